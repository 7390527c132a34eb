package diag

// runCodes are the findings of preparation passes and of runs: E6xx, E9xx, W9xx.
func runCodes() []Code { return []Code{} }
