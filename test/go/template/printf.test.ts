import { describe } from 'vitest'
import { testOutcomes } from './run-template.ts'

describe('printf', () => {
  testOutcomes([
    ['{{ printf "%d %s %v %q" 42 "s" "v" "q\\n" }}', '42 s v "q\\n"'],
    ['{{ printf "%x %X %x % x %o %b" 255 "hi" "hi" "hi" 8 5 }}', 'ff 6869 6869 68 69 10 101'],
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
    ['{{ printf "%v %v %.200f|" 1e6 1e21 0.0 }}', `1e+06 1e+21 0.${'0'.repeat(100)}|`],
    ['{{ printf "%t %5t|%v" true false true }}', 'true false|true'],
    ['{{ printf "%#q %q" "raw" "it\'s" }}', '`raw` "it\'s"'],
    [
      '{{ printf "%v %s %d %q" .Match .Group .Var.list .Var.texts }}',
      '[www.example.org. www example.org.] map[0:www.example.org. 1:www 2:example.org. rest:example.org.] [1 %!d(string=a) <nil>] ["x" "y"]',
    ],
    [
      '{{ printf "%s" 1 }} {{ printf "%d" "a" }} {{ printf "%x" true }}',
      '%!s(int=1) %!d(string=a) %!x(bool=true)',
    ],
    [
      '{{ printf "%d" }} {{ printf "%d %d" 1 }} {{ printf "x" 1 "a" }}',
      '%!d(MISSING) 1 %!d(MISSING) x%!(EXTRA int=1, string=a)',
    ],
    ['{{ printf "%q %q %c %q" 110 39 97 -1 }}', `'n' '\\'' a '\ufffd'`],
    ['{{ printf "%%" }} {{ printf "%" }}', '% %!(NOVERB)'],
    ['{{ printf "%v %d" nil nil }}', '<nil> %!d(<nil>)'],
    [
      '{{ printf "%v|%s" .Question .Question }}',
      ';WWW.Example.org.\tIN\t AAAA|;WWW.Example.org.\tIN\t AAAA',
    ],
    ['{{ printf "%.0d|" 0 }}', '|'],
    ['{{ printf "%v" .Var.f }} {{ printf "%5.2v|" "abc" }}', '1.5    ab|'],
    [
      '{{ printf "%.2v" 3.14159 }}',
      'error: printf does not support a precision of "%v" for a float',
    ],
    ['{{ printf (print "%" "e") 1.5 }}', 'error: printf does not support "%e"'],
    ['{{ printf "%99999d" 1 }}', 'error: a width or precision is over 65535'],
  ])
})
