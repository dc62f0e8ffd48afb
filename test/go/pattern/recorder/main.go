// Records what Go's regexp says of generated expressions and texts:
//
//	go run test/pattern/recorder/main.go > test/pattern/recorded.jsonl
//
// One JSON array a line: the expression, then for each text [text, offsets of the groups or null];
// an expression that Go refuses stands alone.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"strings"
)

var random = rand.New(rand.NewSource(20261121))

func pick(words ...string) string { return words[random.Intn(len(words))] }

func atom(depth int) string {
	switch random.Intn(14) {
	case 0:
		return "."
	case 1:
		return pick("[ab]", "[^a]", "[a-c0-9]", "[[:alpha:]]", "[^[:digit:]-]", "[]a]", "[a-]", `[\d.]`, `[^\w]`, `[\]x]`)
	case 2:
		return pick(`\d`, `\D`, `\w`, `\W`, `\s`, `\.`, `\-`, `\pL`, `\P{Lu}`, `\x61`, `\x{62}`, `\101`, `\Qa.b\E`)
	case 3, 4:
		if depth > 0 {
			return pick("(", "(", "(?:", "(?i:", "(?P<n>", "(?s-i:") + expression(depth-1) + ")"
		}
	case 5:
		return pick("^", "$", `\b`, `\B`, `\A`, `\z`, "(?i)a", "(?m)b", "(?U)c", "(?s)1")
	case 6:
		return pick("web", "Shop", "_http", "10", "-eu", `\.`)
	case 7:
		return pick("é", "İ", "{", "}", "{x}", "-")
	}
	return pick("a", "b", "c", "1", "-", "A", ".")
}

func sequence(depth int) string {
	var parts strings.Builder
	for i := random.Intn(5); i >= 0; i-- {
		parts.WriteString(atom(depth))
		if random.Intn(3) == 0 {
			parts.WriteString(pick("*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?", "{2,}", "{,3}"))
		}
	}
	return parts.String()
}

func expression(depth int) string {
	text := sequence(depth)
	for random.Intn(4) == 0 {
		text += "|" + pick("", sequence(depth))
	}
	return text
}

func subject() string {
	var text strings.Builder
	for i := random.Intn(10); i > 0; i-- {
		text.WriteString(pick("a", "b", "c", "A", "B", "1", "0", ".", "-", "_", "web", "shop", "SHOP", "aa", "é", " ", "\n", "{x}", "a.b"))
	}
	return text.String()
}

func main() {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	broken := []string{"(", ")", "a)", "[", "[a", "[b-a]", "*a", "a**", "a+*", "+", "?", "a{2}{3}", "a{1001}", "a{3,2}",
		`\`, `\8`, `\y`, `\1`, `\Z`, `\pX`, `\p{Nope}`, "(?=a)", "(?<=a)", "(?!a)", "(?P<n>a)(?P<n>b)", "(?P<1-2>a)", "(?P<>a)",
		"(?x)a", "(?i", "[[:nope:]]", "[a-c-e]", `\x{110000}`, "(a|b", "a{2,1001}", "x{1000}{1000}"}
	for i := 0; i < 2000; i++ {
		text := expression(3)
		if i < len(broken) {
			text = broken[i]
		}
		compiled, err := regexp.Compile(text)
		if err != nil {
			out.Encode([]any{text})
			continue
		}
		row := []any{text}
		for j := 0; j < 6; j++ {
			s := subject()
			found := compiled.FindStringSubmatch(s)
			if found == nil {
				row = append(row, []any{s, nil})
				continue
			}
			groups := []any{}
			at := compiled.FindStringSubmatchIndex(s)
			for k, group := range found {
				if at[2*k] < 0 {
					groups = append(groups, nil)
				} else {
					groups = append(groups, group)
				}
			}
			row = append(row, []any{s, groups})
		}
		out.Encode(row)
	}
	fmt.Fprintln(os.Stderr, "done")
}
