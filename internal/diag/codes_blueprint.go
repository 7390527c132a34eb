package diag

// blueprintCodes are the findings of the blueprint language: E1xx lexical, E2xx
// grammar and values, E3xx ranks, grids and groups, E4xx matching, E5xx progress.
func blueprintCodes() []Code { return []Code{} }
