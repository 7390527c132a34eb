package main

import (
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"hybrid/des"
	"hybrid/internal/yamldoc"
	"hybrid/machines"
	"hybrid/networks"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema {network|machine}",
		Short: "Print the JSON Schema of a kind of file, for editors",
		Example: `  hybrid schema network > network.schema.json
  # first line of the YAML file:
  # yaml-language-server: $schema=network.schema.json`,
		GroupID: groupLook, ValidArgs: []string{"network", "machine"}, Args: cobra.ExactArgs(1), DisableFlagsInUseLine: true,
		RunE: a.run(func(_ *cobra.Command, args []string) error {
			schema := map[string]func() []byte{"network": networkSchema, "machine": machines.Schema}[args[0]]
			if schema == nil {
				return usageError{fmt.Errorf("there are schemas of network and machine, not of %q", args[0])}
			}
			_, err := a.stdout.Write(schema())
			return err
		}),
	}
}

// networkSchema is that of the network package with the keys that belong to the engine: of
// the nic section, of routing and of switches.
func networkSchema() []byte {
	var names []string
	properties := map[string]any{}
	for _, t := range des.Transports() {
		names = append(names, t.Name)
		section := des.NICSection(t.Name)
		if section == nil {
			continue
		}
		if own, ok := yamldoc.Schema(section)["properties"].(map[string]any); ok {
			maps.Copy(properties, own)
		}
	}
	transport := map[string]any{"enum": names, "description": "Transport of the NIC; hybrid list transports prints them."}
	properties["transport"] = transport
	full := map[string]any{"type": "object", "properties": properties, "required": []string{"transport"}, "additionalProperties": false}
	return networks.Schema(map[string]any{"anyOf": []any{full, transport}}, routingSchema(), yamldoc.Schema(des.SwitchSection()))
}

// routingSchema is that of fabric.routing: a kind, with or without its keys.
func routingSchema() map[string]any {
	var hash any
	var kinds []any
	docs := des.Routings()
	for i, s := range des.RoutingSections() {
		own := yamldoc.Schema(s.Keys)
		if i == 0 { // what all have in common, also in a short form
			own = own["anyOf"].([]any)[0].(map[string]any)
			hash = own["properties"].(map[string]any)["hash"]
			continue
		}
		kind := map[string]any{"const": s.Name, "description": docs[i-1].Doc}
		properties := own["properties"].(map[string]any)
		properties["kind"], properties["hash"] = kind, hash
		required, _ := own["required"].([]string)
		own["required"] = append(required, "kind")
		kinds = append(kinds, own, kind)
	}
	return map[string]any{"anyOf": kinds}
}
