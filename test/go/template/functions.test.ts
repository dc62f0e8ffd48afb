import { describe } from 'vitest'
import { testOutcomes } from './run-template.ts'

describe('functions of templates', () => {
  testOutcomes([
    [
      '{{ index .Match 1 }} {{ index .Group "rest" }} {{ index .Group "x" }}.',
      'www example.org. .',
    ],
    ['{{ index .Var.map "a" }} {{ index .Var.map "x" }} {{ index .Name 0 }}', 'b <no value> 119'],
    ['{{ index .Match 3 }}', 'error: index 3 is out of range'],
    ['{{ index .Match -1 }}', 'error: index -1 is out of range'],
    ['{{ index .Match "a" }}', 'error: string is not an index'],
    ['{{ index .Group 1 }}', 'error: int is not a map key'],
    ['{{ index .Var.map 1 }}', 'error: int is not a map key'],
    ['{{ index 1 1 }}', 'error: int has no elements'],
    ['{{ index nil 1 }}', 'error: "index" of nil'],
    [
      '{{ slice .Name 4 11 }} {{ slice .Name 4 }} {{ slice .Match 1 2 }}',
      'example example.org. [www]',
    ],
    ['{{ slice .Match 0 1 2 }}', '[www.example.org.]'],
    ['{{ slice .Name 3 1 }}', 'error: 3 to 1 is not a valid slice'],
    ['{{ slice .Name 0 1 2 }}', 'error: too many indexes'],
    ['{{ slice 1 2 }}', 'error: int cannot be sliced'],
    [
      '{{ len .Name }} {{ len "früh" }} {{ len .Match }} {{ len .Group }} {{ len .Var.map }}',
      '16 5 3 4 2',
    ],
    ['{{ len 1 }}', 'error: int has no length'],
    ['{{ not 1 }} {{ not "" }}', 'false true'],
    [
      '{{ eq 1 2 1 }} {{ ne 1 2 }} {{ lt 1 2 }} {{ le 2 2 }} {{ gt 3 2 }} {{ ge 2 3 }}',
      'true true true true true false',
    ],
    [
      '{{ lt "a" "b" }} {{ lt 1.5 2.5 }} {{ eq true true }} {{ eq nil .Var.nil }}',
      'true true true true',
    ],
    ['{{ eq .Question .Question }} {{ eq .Var.nil 1 }}', 'true false'],
    ['{{ eq 1 "a" }}', 'error: int and string cannot be compared'],
    ['{{ eq 1 1.0 }}', 'error: int and float64 cannot be compared'],
    ['{{ eq .Match .Match }}', 'error: []string and []string cannot be compared'],
    ['{{ lt true false }}', 'error: bool and bool have no order'],
    [
      '{{ parseInt "ff" 16 8 }} {{ parseInt "0x1f" 0 64 }} {{ parseInt "017" 0 64 }} {{ parseInt "1" 10 0 }}',
      '255 31 15 1',
    ],
    ['{{ parseInt "256" 10 8 }}', 'error: 256 is over 8 bits'],
    ['{{ parseInt "-1" 10 8 }}', 'error: "-1" is not a number of base 10'],
    ['{{ parseInt "" 10 8 }}', 'error: "" is not a number of base 10'],
    ['{{ parseInt "1" 1 8 }}', 'error: 1 is not a base'],
    ['{{ parseInt "1" 10 65 }}', 'error: 65 is not a number of bits'],
    ['{{ print "a" 1 2 "b" 3 }} {{ println "a" 1 }}', 'a1 2b3 a 1\n'],
  ])
})
