// Command tables prints the inputs of the setup tests of CoreDNS's plugins, a line of JSON each: from
// every table of structs in plugin/*/*_test.go that has a text of a Corefile and says whether it is
// an error.
package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// testCase is one input of a table.
type testCase struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Plugin    string `json:"plugin"`
	Input     string `json:"input"`
	ShouldErr bool   `json:"shouldErr"`
}

var (
	inputField = regexp.MustCompile(`^(input|inputFileRules|config|corefile)$`)
	errField   = regexp.MustCompile(`^(shouldErr|expectErr|wantErr|shouldError)$`)
)

func main() {
	files, err := filepath.Glob(filepath.Join(os.Args[1], "plugin", "*", "*_test.go"))
	if err != nil {
		panic(err)
	}
	out := json.NewEncoder(os.Stdout)
	for _, path := range files {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			panic(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			table, ok := node.(*ast.CompositeLit)
			if !ok {
				return true
			}
			for _, one := range casesOf(table) {
				one.File, _ = filepath.Rel(os.Args[1], path)
				one.Plugin = filepath.Base(filepath.Dir(path))
				one.Line = set.Position(one.pos).Line
				if err := out.Encode(one.testCase); err != nil {
					panic(err)
				}
			}
			return true
		})
	}
}

type placed struct {
	testCase
	pos token.Pos
}

// casesOf reads a table whose elements are structs that the table itself declares.
func casesOf(table *ast.CompositeLit) []placed {
	array, ok := table.Type.(*ast.ArrayType)
	if !ok {
		return nil
	}
	declared, ok := array.Elt.(*ast.StructType)
	if !ok {
		return nil
	}
	var names []string
	input, fails := "", ""
	for _, field := range declared.Fields.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
			if input == "" && inputField.MatchString(name.Name) {
				input = name.Name
			}
			if errField.MatchString(name.Name) {
				fails = name.Name
			}
		}
	}
	if input == "" || fails == "" {
		return nil
	}
	var found []placed
	for _, element := range table.Elts {
		row, ok := element.(*ast.CompositeLit)
		if !ok {
			continue
		}
		values := map[string]ast.Expr{}
		for i, value := range row.Elts {
			if pair, ok := value.(*ast.KeyValueExpr); ok {
				if key, ok := pair.Key.(*ast.Ident); ok {
					values[key.Name] = pair.Value
				}
			} else if i < len(names) {
				values[names[i]] = value
			}
		}
		text, ok := textOf(values[input])
		if !ok {
			continue
		}
		found = append(found, placed{testCase{Input: text, ShouldErr: isTrue(values[fails])}, row.Pos()})
	}
	return found
}

func isTrue(value ast.Expr) bool {
	name, ok := value.(*ast.Ident)
	return ok && name.Name == "true"
}

// textOf reads a literal, or literals that are joined.
func textOf(value ast.Expr) (string, bool) {
	switch one := value.(type) {
	case *ast.BasicLit:
		if one.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(one.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := textOf(one.X)
		right, also := textOf(one.Y)
		return strings.Join([]string{left, right}, ""), ok && also && one.Op == token.ADD
	}
	return "", false
}
