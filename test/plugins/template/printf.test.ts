import { describe } from 'vitest'
import { testOutcomes } from './run-template.ts'

describe('printf', () => {
  testOutcomes([
    ['{{ printf "%d %s %v %q" 42 "s" "v" "q\\n" }}', '42 s v "q\\n"'],
    [
      '{{ printf "%x %X %x % x %o %O %b %c %U" 255 "hi" "hi" "hi" 8 8 5 65 0x1F600 }}',
      'ff 6869 6869 68 69 10 0o10 101 A U+1F600',
    ],
    ['{{ printf "%#x %#o %#b %x" 255 8 5 -255 }}', '0xff 010 0b101 -ff'],
    [
      '{{ printf "%5d|%-5d|%05d|%+d|% d|%.3d|%8.3d" 42 42 -42 42 42 7 7 }}',
      '   42|42   |-0042|+42| 42|007|     007',
    ],
    ['{{ printf "%5s|%-5s|%.2s|%05s" "ab" "ab" "abc" "ab" }}', '   ab|ab   |ab|000ab'],
    [
      '{{ printf "%f %.2f %8.3f|%-8.1f|%+.1f %06.1f" 1.5 3.14159 2.5 2.5 1.0 -2.5 }}',
      '1.500000 3.14    2.500|2.5     |+1.0 -002.5',
    ],
    [
      '{{ printf "%e %E %g %G %v" 1.5 1.5 1e21 1e21 1e6 }}',
      '1.500000e+00 1.500000E+00 1e+21 1E+21 1e+06',
    ],
    ['{{ printf "%.3g %.3g %.1g" 1234.5 0.00012345 5.0 }}', '1.23e+03 0.000123 5'],
    ['{{ printf "%t %5t|%v" true false true }}', 'true false|true'],
    ['{{ printf "%q %#q %q" \'a\' "raw" "it\'s" }}', "'a' `raw` \"it's\""],
    [
      '{{ printf "%v %s %d %q" .Match .Group .Var.list .Var.texts }}',
      '[www.example.org. www example.org.] map[0:www.example.org. 1:www 2:example.org. rest:example.org.] [1 %!d(string=a) <nil>] ["x" "y"]',
    ],
    [
      '{{ printf "%T %T %T %T %T %T" 1 "a" 1.5 true .Match .Var.map }}',
      'int string float64 bool []string map[string]interface {}',
    ],
    ['{{ printf "%*d|%-*d|%.*f" 5 42 5 42 1 1.3 }}', '   42|42   |1.3'],
    [
      '{{ printf "%s" 1 }} {{ printf "%d" "a" }} {{ printf "%z" true }}',
      '%!s(int=1) %!d(string=a) %!z(bool=true)',
    ],
    [
      '{{ printf "%d" }} {{ printf "%d %d" 1 }} {{ printf "x" 1 "a" }}',
      '%!d(MISSING) 1 %!d(MISSING) x%!(EXTRA int=1, string=a)',
    ],
    ['{{ printf "%%" }} {{ printf "%" }}', '% %!(NOVERB)'],
    ['{{ printf "%v %d" nil nil }}', '<nil> %!d(<nil>)'],
    [
      '{{ printf "%v|%s" .Question .Question }}',
      ';WWW.Example.org.\tIN\t AAAA|;WWW.Example.org.\tIN\t AAAA',
    ],
    ['{{ printf "%.0d|" 0 }}{{ printf "%c" -1 }}', '|\ufffd'],
    ['{{ printf "%v" .Var.f }} {{ printf "%5.2v" 3.14159 }}', '1.5   3.1'],
    ['{{ printf "%99999d" 1 }}', 'error: a width or precision is over 65535'],
  ])
})
