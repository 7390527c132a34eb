package diag

// traceCodes are the findings of Chakra traces: E7xx and W7xx.
func traceCodes() []Code { return []Code{} }
