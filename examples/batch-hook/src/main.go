// A batch hook without a library: one program with several hooks, which speaks the protocol of docs/batch-hooks.md.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

type object = map[string]any

type hook struct {
	name   string
	config object
	run    func() error
}

var hooks = []hook{
	{
		name: "count",
		config: object{"kubernetes": []object{{
			"name":          "counted",
			"apiVersion":    "v1",
			"kind":          "ConfigMap",
			"labelSelector": object{"matchLabels": object{"example": "counted"}},
			"jqFilter":      ".metadata.name",
			"queue":         "count",
		}}},
		run: count,
	},
	{
		name:   "announce",
		config: object{"afterHelm": 1},
		run:    func() error { return record("info", "count is deployed") },
	},
}

func main() {
	if len(os.Args) < 3 || os.Args[1] != "hook" {
		// Among others --config: the operator goes on with "hook config".
		os.Exit(1)
	}
	var err error
	switch os.Args[2] {
	case "config":
		err = printConfig()
	case "run":
		err = run(os.Args[3:])
	case "ready":
		err = ready()
	case "check":
		check()
	default:
		err = fmt.Errorf("unknown command %s", os.Args[2])
	}
	if err != nil {
		fail(object{"message": err.Error()})
	}
}

func printConfig() error {
	configs := []object{}
	for _, each := range hooks {
		config := object{"configVersion": "v1", "metadata": object{"name": each.name}}
		for key, value := range each.config {
			config[key] = value
		}
		configs = append(configs, config)
	}
	return json.NewEncoder(os.Stdout).Encode(object{
		"version":            "v1",
		"hooks":              configs,
		"readiness":          object{"schedule": []object{{"crontab": "*/5 * * * * *"}}},
		"has_settings_check": true,
	})
}

func run(arguments []string) error {
	if len(arguments) != 1 {
		return fmt.Errorf("hook run takes an index")
	}
	index, err := strconv.Atoi(arguments[0])
	if err != nil || index < 0 || index >= len(hooks) {
		return fmt.Errorf("there is no hook %s", arguments[0])
	}
	return hooks[index].run()
}

// count writes the number of objects in the snapshot to the values and to a metric.
func count() error {
	var contexts []struct {
		Snapshots map[string][]object `json:"snapshots"`
	}
	if err := read("BINDING_CONTEXT_PATH", &contexts); err != nil {
		return err
	}
	total := 0
	for _, context := range contexts {
		total = len(context.Snapshots["counted"])
	}
	patch := []object{{"op": "add", "path": "/count/total", "value": total}}
	if err := write("VALUES_JSON_PATCH_PATH", patch); err != nil {
		return err
	}
	return write("METRICS_PATH", object{"name": "example_counted", "action": "set", "value": total})
}

// ready reports whether the number of objects is within the limit.
func ready() error {
	var values struct {
		Count struct{ Total, Limit int } `json:"count"`
	}
	if err := read("VALUES_PATH", &values); err != nil {
		return err
	}
	condition := object{"type": "IsReady", "status": "True"}
	if values.Count.Total > values.Count.Limit {
		condition["status"] = "False"
		condition["message"] = fmt.Sprintf("%d objects are more than %d", values.Count.Total, values.Count.Limit)
	}
	return write("KUBERNETES_PATCH_PATH", object{
		"operation":   "MergePatch",
		"apiVersion":  "deckhouse.io/v1alpha1",
		"kind":        "Module",
		"name":        os.Getenv("MODULE_NAME"),
		"subresource": "/status",
		"mergePatch":  object{"status": object{"conditions": []object{condition}}},
	})
}

// check refuses a limit that makes no sense, and warns of one that is high.
func check() {
	var settings struct{ Limit int }
	if err := read("SETTINGS_PATH", &settings); err != nil {
		fail(object{"valid": false, "message": err.Error()})
	}
	if settings.Limit < 1 {
		fail(object{"valid": false, "message": "limit must be at least 1"})
	}
	if settings.Limit > 100 {
		fail(object{"valid": true, "warnings": []string{"a limit above 100 is never reached"}})
	}
}

func read(variable string, value any) error {
	content, err := os.ReadFile(os.Getenv(variable))
	if err != nil {
		return err
	}
	return json.Unmarshal(content, value)
}

func write(variable string, value any) error {
	file, err := os.OpenFile(os.Getenv(variable), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	return json.NewEncoder(file).Encode(value)
}

func record(level, message string) error {
	return json.NewEncoder(os.Stdout).Encode(object{"level": level, "msg": message})
}

func fail(reason object) {
	json.NewEncoder(os.Stderr).Encode(reason)
	os.Exit(1)
}
