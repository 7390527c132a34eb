// Package chakra reads MLCommons Chakra execution traces, one file a rank, into
// the operation graph, and writes the current schema. It also reads the mapping files
// that place ranks on servers and in scale-up groups.
//
// A trace file is a sequence of length-prefixed protobuf messages: an optional
// global metadata message and one message for each node (Sridharan et al.,
// "Chakra: Advancing Performance Benchmarking and Co-design using Standardized
// Execution Traces", 2023; schema et_def.proto of mlcommons/chakra).
//
// Invariants:
//
//  1. What a file is gets decided by its content, never by its name. Gzip, a missing
//     or empty metadata message and the older schemas are recognised.
//  2. The decoder never reads beyond its input, never recurses on it and allocates
//     nothing for a single node. Unknown fields are skipped.
//  3. An attribute is read whichever integer member of the union holds it, and is
//     absent only if no member does: type 0 and size 0 are values.
//  4. A declared process group keeps the order of its member list. Only an
//     undeclared "", "0" or absent name means all ranks.
//  5. Every rank becomes a flat program with one operation a node, in file order; the
//     nodes of all ranks that share name and kind share a site.
//  6. Findings name file and node; equal ones become one with a count. Nothing is
//     dropped in silence.
//  7. A mapping file is read exactly: bandwidths are fractions, latencies whole
//     picoseconds, and what has to be rounded is said. It never says which hosts a
//     network has; whoever knows the topology checks that.
package chakra
