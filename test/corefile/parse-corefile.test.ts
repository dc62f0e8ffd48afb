import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { parseCorefile } from '../../src/corefile/parse-corefile.ts'
import { ConfigError } from '../../src/corefile/problem.ts'
import { REFUSED, REFUSED_FILES } from './refused-corefiles.ts'
import { COREFILE, outline, parse, problemsOf, type Surroundings, sourceOf } from './source.ts'

type Case = { name: string; text: string; blocks: readonly string[] } & Surroundings

function outlines({ text, ...surroundings }: Case): string[] {
  return parse(text, surroundings).map(outline)
}

describe('parseCorefile reads server blocks', () => {
  const cases: Case[] = [
    { name: 'in braces', text: '.:53 {\n  errors\n  log\n}\n', blocks: ['.:53 | errors | log'] },
    { name: 'with CRLF', text: '.:53 {\r\n  errors\r\n}\r\n', blocks: ['.:53 | errors'] },
    { name: 'one after another', text: 'a {\nx\n}\nb {\ny\n}', blocks: ['a. | x', 'b. | y'] },
    { name: 'without directives', text: 'a {\n}', blocks: ['a.'] },
    { name: 'of a zone alone', text: 'a', blocks: ['a.'] },
    { name: 'on one line', text: 'a { errors }', blocks: ['a. | errors'] },
    {
      name: 'with a block on one line',
      text: 'a { cache { success 1 } }',
      blocks: ['a. | cache { success 1 }'],
    },
    {
      name: 'with their brace on the next line',
      text: 'a\n{\n  errors\n}',
      blocks: ['a. | errors'],
    },
    {
      name: 'without braces, until the end',
      text: 'a:53\nerrors\ncache 30 {\nsuccess 1\n}\nlog',
      blocks: ['a.:53 | errors | cache 30 { success 1 } | log'],
    },
    { name: 'of several zones', text: 'a b:53 {\n}', blocks: ['a. b.:53'] },
    { name: 'of zones with commas', text: 'a, b:53,\n c {\n}', blocks: ['a. b.:53 c.'] },
    { name: 'of zones on lines, without a block', text: 'a,\nb', blocks: ['a. b.'] },
    { name: 'of a zone in quotes', text: '"a" {\n}', blocks: ['a.'] },
    {
      name: 'of blocks of addresses',
      text: '192.0.2.0/23 tls://a {\n}',
      blocks: ['2.0.192.in-addr.arpa. 3.0.192.in-addr.arpa. tls://a.'],
    },
    {
      name: 'with comments between',
      text: 'a { # one\n# two\nlog # three\n}#',
      blocks: ['a. | log'],
    },
  ]
  for (const one of cases) {
    test(one.name, () => {
      assert.deepEqual(outlines(one), one.blocks)
    })
  }
})

describe('parseCorefile refuses a Corefile without a server block', () => {
  const cases = [
    { name: 'an empty one', text: '' },
    { name: 'of comments', text: '# .:53 {\n# }\n' },
    { name: 'of snippets', text: '(a) {\nlog\n}' },
  ]
  for (const { name, text } of cases) {
    test(name, () => {
      const [problem, ...others] = problemsOf(() => parse(text))
      assert.match(problem ?? '', /^1:1: no server block/)
      assert.deepEqual(others, [])
    })
  }
})

describe('parseCorefile reads directives', () => {
  const cases: Case[] = [
    {
      name: 'with arguments',
      text: '. {\nforward . 192.0.2.1 192.0.2.2\n}',
      blocks: ['. | forward . 192.0.2.1 192.0.2.2'],
    },
    {
      name: 'with quoted arguments over lines',
      text: '. {\nlog "a\nb" c\nerrors\n}',
      blocks: ['. | log a\nb c | errors'],
    },
    {
      name: 'with a block',
      text: '. {\ncache 30 {\nsuccess 1 2\ndenial 3\n}\n}',
      blocks: ['. | cache 30 { success 1 2 ; denial 3 }'],
    },
    { name: 'with an empty block', text: '. {\ncache {\n}\n}', blocks: ['. | cache'] },
    {
      name: 'with blocks in blocks',
      text: '. {\na {\nb {\nc d\n}\ne\n}\nf\n}',
      blocks: ['. | a { b { c d } ; e } | f'],
    },
    {
      name: 'after a block on the same line',
      text: '. {\na {\nb\n} c\n}',
      blocks: ['. | a { b } | c'],
    },
    {
      name: 'whose block begins on its line',
      text: '. {\na { b\nc\n}\n}',
      blocks: ['. | a { b ; c }'],
    },
    {
      name: 'with braces in quotes as words',
      text: '. {\nlog "{" "}"\n"}" x\n}',
      blocks: ['. | log { } | } x'],
    },
    {
      name: 'with braces within words',
      text: '. {\nlog {combined} a{b\n}',
      blocks: ['. | log {combined} a{b'],
    },
    {
      name: 'with "import" as an argument',
      text: '. {\nlog import x\n}',
      blocks: ['. | log import x'],
    },
  ]
  for (const one of cases) {
    test(one.name, () => {
      assert.deepEqual(outlines(one), one.blocks)
    })
  }
})

describe('parseCorefile expands variables', () => {
  const variables = { ZONE: 'example.org', PORT: '53', TTL: '30', FILE: 'more', EMPTY: '' }
  const cases: Case[] = [
    { name: 'for zones and ports', text: '{$ZONE}:{%PORT%} {\n}', blocks: ['example.org.:53'] },
    {
      name: 'for names of directives and arguments',
      text: '. {\n{$FILE} {$TTL}s\n}',
      blocks: ['. | more 30s'],
    },
    {
      name: 'in blocks',
      text: '. {\ncache {\nsuccess {$TTL}\n}\n}',
      blocks: ['. | cache { success 30 }'],
    },
    { name: 'in quotes', text: '. {\nlog "a {$TTL}"\n}', blocks: ['. | log a 30'] },
    {
      name: 'as one word, whatever is in them',
      text: '. {\nlog {$WORDS}\n}',
      variables: { WORDS: 'a { b' },
      blocks: ['. | log a { b'],
    },
    { name: 'as nothing, for a zone', text: 'a {$EMPTY} {\n}', blocks: ['a.'] },
    { name: 'for imports', text: 'import {$FILE}', files: { '/etc/more': 'a' }, blocks: ['a.'] },
  ]
  for (const one of cases) {
    test(one.name, () => {
      assert.deepEqual(outlines({ variables, ...one }), one.blocks)
    })
  }
})

describe('parseCorefile imports snippets', () => {
  const cases: Case[] = [
    {
      name: 'and makes no server block of them',
      text: '(a) {\nlog\n}\nb {\n}',
      blocks: ['b.'],
    },
    {
      name: 'for directives',
      text: '(a) {\nlog\nerrors\n}\n. {\nimport a\ncache\n}',
      blocks: ['. | log | errors | cache'],
    },
    { name: 'twice', text: '(a) {\nlog\n}\n. {\nimport a\nimport a\n}', blocks: ['. | log | log'] },
    {
      name: 'in several server blocks',
      text: '(a) {\nlog\n}\nb {\nimport a\n}\nc {\nimport a\n}',
      blocks: ['b. | log', 'c. | log'],
    },
    {
      name: 'in server blocks without braces',
      text: '(a) {\nlog\n}\n.\nimport a\ncache',
      blocks: ['. | log | cache'],
    },
    {
      name: 'in blocks',
      text: '(a) {\nsuccess 1\n}\n. {\ncache {\ndenial 2\nimport a\nttl 3\n}\n}',
      blocks: ['. | cache { denial 2 ; success 1 ; ttl 3 }'],
    },
    {
      name: 'with blocks of their own',
      text: '(a) {\ncache {\nttl 1\n}\n}\n. {\nimport a\n}',
      blocks: ['. | cache { ttl 1 }'],
    },
    {
      name: 'within snippets',
      text: '(a) {\nlog\n}\n(b) {\nimport a\nerrors\n}\n. {\nimport b\n}',
      blocks: ['. | log | errors'],
    },
    {
      name: 'within snippets that are before them',
      text: '(b) {\nimport a\nerrors\n}\n(a) {\nlog\n}\n. {\nimport b\n}',
      blocks: ['. | log | errors'],
    },
    {
      name: 'within snippets in blocks',
      text: '(a) {\nttl 1\n}\n(b) {\nimport a\n}\n. {\ncache {\ndenial 2\nimport b\n}\n}',
      blocks: ['. | cache { denial 2 ; ttl 1 }'],
    },
    { name: 'on one line', text: '(a) { log }\n. { import a }', blocks: ['. | log'] },
    {
      name: 'as server blocks',
      text: '(a) {\nb {\nlog\n}\n}\nimport a\nc',
      blocks: ['b. | log', 'c.'],
    },
    { name: 'as nothing', text: '(a) {\n}\n. {\nimport a\nlog\n}', blocks: ['. | log'] },
    {
      name: 'from imported files',
      text: 'import x\n. {\nimport a\n}',
      files: { '/etc/x': '(a) {\nlog\n}' },
      blocks: ['. | log'],
    },
    {
      name: 'rather than files',
      text: '(x) {\nlog\n}\n. {\nimport x\n}',
      files: { '/etc/x': 'errors' },
      blocks: ['. | log'],
    },
  ]
  for (const one of cases) {
    test(one.name, () => {
      assert.deepEqual(outlines(one), one.blocks)
    })
  }
})

describe('parseCorefile imports files', () => {
  const files = {
    '/etc/x': 'log\nerrors',
    '/etc/dir/a.conf': 'a {\nlog\n}',
    '/etc/dir/b.conf': 'b',
    '/etc/dir/c.txt': 'c',
    '/etc/dir/more': 'import near',
    '/etc/dir/near': 'cache',
    '/far/y': 'whoami',
    '/etc/half': '. {\nlog',
    '/etc/empty': '',
  }
  const cases: Case[] = [
    {
      name: 'for directives',
      text: '. {\nimport x\ncache\n}',
      blocks: ['. | log | errors | cache'],
    },
    { name: 'by an absolute path', text: '. {\nimport /far/y\n}', blocks: ['. | whoami'] },
    {
      name: 'from the folder of the file that imports',
      text: '. {\nimport dir/more\n}',
      blocks: ['. | cache'],
    },
    {
      name: 'for the zones of a pattern with *, sorted',
      text: 'import dir/*.conf',
      blocks: ['a. | log', 'b.'],
    },
    { name: 'for a pattern with ?', text: 'import dir/?.txt', blocks: ['c.'] },
    { name: 'for a pattern that matches nothing', text: 'import dir/*.none\nd', blocks: ['d.'] },
    { name: 'that are empty', text: '. {\nimport empty\nlog\n}', blocks: ['. | log'] },
    { name: 'that close in another', text: 'import half\ncache\n}', blocks: ['. | log | cache'] },
    { name: 'in blocks', text: '. {\na {\nimport x\n}\n}', blocks: ['. | a { log ; errors }'] },
    { name: 'after zones without braces', text: '.\nimport x', blocks: ['. | log | errors'] },
  ]
  for (const one of cases) {
    test(one.name, () => {
      assert.deepEqual(outlines({ files, ...one }), one.blocks)
    })
  }

  test('of any number of words', () => {
    const words = Array.from({ length: 200_000 }, (_, i) => `w${i}`)
    const text = '. {\nlog\nimport long\nerrors\n}'
    const [block] = parse(text, { files: { '/etc/long': words.join(' ') } })
    const [first, long, last] = block?.directives ?? []
    assert.deepEqual([first?.name, last?.name], ['log', 'errors'])
    assert.deepEqual([long?.name, ...(long?.args ?? []).map((word) => word.text)], words)
  })

  test('with positions in the imported file', () => {
    const [block] = parse('. {\nlog\nimport x\n}', { files })
    assert.deepEqual(
      block?.directives.map(({ file, line, column }) => `${file}:${line}:${column}`),
      ['/etc/Corefile:2:1', '/etc/x:1:1', '/etc/x:2:1'],
    )
  })
})

describe('parseCorefile refuses', () => {
  for (const { name, text, files, problems } of REFUSED) {
    test(name, () => {
      assert.deepEqual(
        problemsOf(() => parse(text, { files: { ...REFUSED_FILES, ...files } })),
        problems,
      )
    })
  }

  test('more than a million words with all imports', () => {
    const text = `(a) {\n${'w '.repeat(2000)}\n}\n. {\n${'import a\n'.repeat(600)}}`
    assert.deepEqual(
      problemsOf(() => parse(text)),
      ['503:1: more than 1000000 words with all imports'],
    )
  })

  test('not many blocks in a row', () => {
    const [block] = parse(`. {\n${'a {\nb\n}\n'.repeat(101)}}`)
    assert.equal(block?.directives.length, 101)
  })

  test('not a hundred nested blocks', () => {
    const text = `. {\n${'a {\n'.repeat(100)}${'}\n'.repeat(101)}`
    assert.deepEqual(
      problemsOf(() => parse(text)),
      [],
    )
  })
})

describe('parseCorefile, for any text,', () => {
  const words = [
    'a',
    '.',
    ',',
    'b,',
    '{',
    '}',
    '"',
    '"{"',
    '\\',
    '#',
    '\n',
    '\n',
    '\r\n',
    ' ',
    '(s)',
  ]
  const phrases = [
    'import',
    'import s\n',
    'import x',
    'import *',
    '{$A}',
    '{%A%}',
    '. {\n',
    '(s) {\n',
  ]
  const corefile = fc
    .array(fc.constantFrom(...words, ...phrases), { maxLength: 40 })
    .map((parts) => parts.join(' ').replaceAll('\n ', '\n'))
  const source = sourceOf({
    files: { '/etc/x': 'log\n(s) {\nimport s\n}', '/etc/y': 'import x\n' },
    variables: { A: 'import', B: '{' },
  })

  test('returns server blocks or throws a ConfigError with positions', () => {
    fc.assert(
      fc.property(fc.oneof(corefile, fc.string()), (text) => {
        try {
          for (const { keys } of parseCorefile(text, COREFILE, source)) assert.ok(keys.length > 0)
        } catch (error) {
          assert.ok(error instanceof ConfigError, String(error))
          for (const { line, column } of error.problems) assert.ok(line >= 1 && column >= 1)
        }
      }),
      { numRuns: 3000 },
    )
  })

  test('parses LF and CRLF alike', () => {
    fc.assert(
      fc.property(corefile, (text) => {
        const plain = text.replaceAll('\r', '').replaceAll('"', '')
        const read = (input: string) => {
          try {
            return parseCorefile(input, COREFILE, source).map(outline)
          } catch (error) {
            return String(error)
          }
        }
        assert.deepEqual(read(plain.replaceAll('\n', '\r\n')), read(plain))
      }),
      { numRuns: 1000 },
    )
  })
})
