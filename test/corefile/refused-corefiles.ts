/**
 * Corefiles that are refused, and what is said of them.
 * @module
 */

/** Files that they import. */
export const REFUSED_FILES: Readonly<Record<string, string>> = {
  '/etc/x': 'log',
  '/etc/bad': '. {\n  }\n}',
  '/etc/self': 'import self',
  '/etc/self-star-1': '# all\nimport self-star-*',
  '/etc/one': 'import two',
  '/etc/two': 'import three',
  '/etc/three': 'import one',
  '/etc/back': '(s) {\nimport back\n}\nimport s',
  '/etc/uses-s': 'import s',
  ...filesNamed('deep-', 200, (i) => `import deep-${i + 1}`),
  ...filesNamed('many-', 10_001, () => ''),
  ...filesNamed('large-', 2, () => '#'.repeat(9 * 1024 * 1024)),
}

function filesNamed(
  start: string,
  count: number,
  textOf: (i: number) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`/etc/${start}${i}`, textOf(i)]),
  )
}

/** A Corefile and what is wrong with it, places in the Corefile without its path. */
export type RefusedCorefile = {
  readonly name: string
  readonly text: string
  /** Further files. */
  readonly files?: Readonly<Record<string, string>>
  readonly problems: readonly string[]
}

/** Snippets s1 to s20, each of which imports the one before it twice. */
const DOUBLING = Array.from({ length: 20 }, (_, i) => {
  return `(s${i + 1}) {\nimport s${i}\nimport s${i}\n}\n`
}).join('')

/** One of each mistake. */
export const REFUSED: readonly RefusedCorefile[] = [
  {
    name: 'a block without a zone',
    text: '\n {\n}',
    problems: ['2:2: expected a zone before "{"'],
  },
  {
    name: 'a block whose zone is an empty variable',
    text: '{$NONE} {\n}',
    problems: ['1:9: expected a zone before "{"'],
  },
  {
    name: 'a block after a block',
    text: 'a {\n}\n{\n}',
    problems: ['3:1: expected a zone before "{"'],
  },
  {
    name: 'a server block that is not closed',
    text: 'a {\nlog',
    problems: ['1:3: this "{" is not closed'],
  },
  {
    name: 'a directive that is not closed',
    text: 'a {\nlog {\nx\n',
    problems: ['2:5: this "{" is not closed'],
  },
  {
    name: 'a block in a server block without braces that is not closed',
    text: 'a\nlog {\nx',
    problems: ['2:5: this "{" is not closed'],
  },
  {
    name: 'a snippet that is not closed',
    text: '(a) {\nlog {\n}',
    problems: ['1:5: this "{" is not closed'],
  },
  {
    name: 'a brace that closes nothing',
    text: 'a {\n}\n}\nb {\n}',
    problems: ['3:1: this "}" closes nothing; the block of line 1 ended on line 2'],
  },
  {
    name: 'a brace that closes no braces',
    text: 'a\nlog\n}',
    problems: ['3:1: this "}" closes nothing'],
  },
  { name: 'a brace after a zone', text: 'a }', problems: ['1:3: this "}" closes nothing'] },
  {
    name: 'a block on a line of its own',
    text: 'a {\n  cache\n  {\n}\n}',
    problems: ['3:3: expected a word before "{" on its line'],
  },
  {
    name: 'a block within a block without a word',
    text: 'a {\ncache { {\n} }\n}',
    problems: ['2:9: expected a word before "{" on its line'],
  },
  {
    name: 'a comma before a brace',
    text: 'a, {\n}',
    problems: ['1:4: expected another zone after the comma, got "{"'],
  },
  {
    name: 'a comma at the end',
    text: 'a,\n',
    problems: ['1:1: expected another zone after the comma, got the end of the file'],
  },
  {
    name: 'all invalid zones',
    text: 'a..b .:65536 c {\n}\nhttp://d',
    problems: [
      '1:1: "a..b" is not a domain name',
      '1:6: ".:65536" has no port from 0 to 65535 after the colon',
      '3:1: "http://d": unknown scheme "http", expected dns, tls, https or grpc',
    ],
  },
  {
    name: 'a ConfigMap',
    text: 'apiVersion: v1\nkind: ConfigMap\ndata:\n  Corefile: |\n    . {\n    }\n',
    problems: [
      '1:1: "apiVersion:" is YAML; pass only the text below "Corefile: |" in the ConfigMap',
    ],
  },
  {
    name: 'a brace at the end of a word',
    text: '.:53{\n  cache 30{\n  success 1\n  }\n}\n',
    problems: [
      '1:1: write ".:53 {", with a space before the brace',
      '2:9: write "30 {", with a space before the brace',
    ],
  },
  {
    name: 'what is wrong in several places',
    text: '{\nlog\n}\na {\n import\n import x y\n import none\n cache\n {\n }\n}\n}\nb {\n}\n',
    problems: [
      '1:1: expected a zone before "{"',
      '5:2: "import" needs a snippet, a file or a pattern',
      '6:11: "import" takes only one snippet, file or pattern',
      '7:9: cannot import "/etc/none": no such snippet above, and no such file',
      '9:2: expected a word before "{" on its line',
      '12:1: this "}" closes nothing; the block of line 4 ended on line 11',
    ],
  },
  {
    name: 'a snippet without a block',
    text: '(a)\nlog',
    problems: ['1:1: snippet "a" has no block in braces'],
  },
  {
    name: 'a snippet twice',
    text: '(a) {\n}\n(a) {\n}',
    problems: ['3:1: snippet "a" is defined twice'],
  },
  {
    name: 'a snippet beside a zone',
    text: '(a) b {\nimport a\n}',
    problems: ['2:8: cannot import "/etc/a": no such snippet above, and no such file'],
  },
  {
    name: 'a snippet that comes later',
    text: '. {\n  import a\n}\n(a) {\n}',
    problems: ['2:10: cannot import "/etc/a": the snippet is defined below, on line 4; move it up'],
  },
  {
    name: 'an import of nothing',
    text: '. {\n  import\n}',
    problems: ['2:3: "import" needs a snippet, a file or a pattern'],
  },
  {
    name: 'an import of nothing at the end',
    text: 'import',
    problems: ['1:1: "import" needs a snippet, a file or a pattern'],
  },
  {
    name: 'an import of nothing before a brace',
    text: '. { import }',
    problems: ['1:5: "import" needs a snippet, a file or a pattern'],
  },
  {
    name: 'an import of a block',
    text: '. {\nimport {\nlog\n}\n}',
    problems: ['2:1: "import" needs a snippet, a file or a pattern'],
  },
  {
    name: 'an import of two',
    text: 'import x y',
    problems: ['1:10: "import" takes only one snippet, file or pattern'],
  },
  {
    name: 'an import with a block',
    text: '. {\nimport x {\n}\n}',
    problems: ['2:10: "import" takes only one snippet, file or pattern'],
  },
  {
    name: 'a missing file',
    text: 'import no/file',
    problems: ['1:8: cannot import "/etc/no/file": no such snippet above, and no such file'],
  },
  {
    name: 'two wildcards',
    text: 'import */*.conf',
    problems: ['1:8: "*/*.conf" has more than one wildcard'],
  },
  {
    name: 'two wildcards of the other kind',
    text: 'import a?.?',
    problems: ['1:8: "a?.?" has more than one wildcard'],
  },
  {
    name: 'a class of letters',
    text: 'import [ab]',
    problems: ['1:8: "[ab]" has brackets; a pattern can have one "*" and one "?"'],
  },
  {
    name: 'what is wrong in an imported file',
    text: 'import bad\nb {\n}',
    problems: ['/etc/bad:3:1: this "}" closes nothing; the block of line 1 ended on line 2'],
  },
  {
    name: 'a snippet that imports itself',
    text: '(a) {\n  import a\n}\n. {\nimport a\n}',
    problems: ['2:3: snippet "a" imports itself'],
  },
  {
    name: 'snippets that import each other',
    text: '(a) {\nimport b\nlog\n}\n(b) {\nimport a\n}\n. {\nimport a\n}',
    problems: ['6:1: snippet "a" imports itself by way of snippet "b"'],
  },
  {
    name: 'a file that imports itself',
    text: 'import self',
    problems: ['/etc/self:1:1: "/etc/self" imports itself'],
  },
  {
    name: 'a file that imports itself by a pattern',
    text: 'import self-star-*',
    problems: ['/etc/self-star-1:2:1: "/etc/self-star-1" imports itself'],
  },
  {
    name: 'a Corefile that imports itself',
    text: '. {\nlog\n}\nimport Corefile',
    files: { '/etc/Corefile': '. {\nlog\n}\nimport Corefile' },
    problems: ['4:1: "/etc/Corefile" imports itself'],
  },
  {
    name: 'files that import each other',
    text: 'import one',
    problems: ['/etc/three:1:1: "/etc/one" imports itself by way of "/etc/two", "/etc/three"'],
  },
  {
    name: 'a snippet in a file that imports the file',
    text: 'import back',
    problems: ['/etc/back:2:1: "/etc/back" imports itself by way of snippet "s"'],
  },
  {
    name: 'a snippet that a file imports which the snippet imports',
    text: '(s) {\nimport uses-s\n}\n. {\nimport s\n}',
    problems: ['/etc/uses-s:1:1: snippet "s" imports itself by way of "/etc/uses-s"'],
  },
  {
    name: 'imports within each other, deeper than anyone needs',
    text: 'import deep-0',
    problems: ['/etc/deep-99:1:1: more than 100 imports within each other'],
  },
  {
    name: 'more files than anyone has',
    text: 'import many-*',
    problems: ['1:8: more than 10000 imported files'],
  },
  {
    name: 'more text than anyone has',
    text: 'import large-*',
    problems: ['1:8: more than 16777216 characters in imported files'],
  },
  {
    name: 'imports that double',
    text: `${DOUBLING}(s0) {\n}\n. {\nimport s20\n}`,
    problems: ['2:1: more than 10000 imports'],
  },
  {
    name: 'blocks deeper than anyone needs',
    text: `. {\n${'a {\n'.repeat(101)}`,
    problems: ['102:3: more than 100 nested blocks'],
  },
]
