// Command operator prints Corefiles of OpenShift's DNS operator as JSON: the golden ones of its test,
// and those that its own template makes of the specs on standard input.
package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
)

const folder = "pkg/operator/controller"

func main() {
	var specs []any
	if err := json.NewDecoder(os.Stdin).Decode(&specs); err != nil {
		panic(err)
	}
	source := textsOf(filepath.Join(os.Args[1], folder, "controller_dns_configmap.go"))
	corefile := template.Must(template.New("Corefile").Parse(source[0]))
	written := []string{}
	for _, spec := range specs {
		out := new(bytes.Buffer)
		if err := corefile.Execute(out, spec); err != nil {
			panic(err)
		}
		written = append(written, out.String())
	}
	golden := textsOf(filepath.Join(os.Args[1], folder, "controller_dns_configmap_test.go"))
	err := json.NewEncoder(os.Stdout).Encode(map[string][]string{"golden": golden, "written": written})
	if err != nil {
		panic(err)
	}
}

// textsOf returns the string literals of a Go file that have a server block for the root zone.
func textsOf(path string) []string {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		panic(err)
	}
	texts := []string{}
	ast.Inspect(file, func(node ast.Node) bool {
		literal, ok := node.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(literal.Value)
		if err == nil && strings.Contains(text, "\n.:5353 {") || strings.Contains(text, "}.:5353 {") {
			texts = append(texts, text)
		}
		return true
	})
	return texts
}
