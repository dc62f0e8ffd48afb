import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  argTexts,
  checkArgs,
  checkNoBlock,
  nearest,
  type Option,
  onlyDirective,
  options,
  parseCount,
  parseDuration,
  unknownOption,
  zonesOf,
} from '../../src/corefile/arguments.ts'
import type { Directive, Word } from '../../src/corefile/server-block.ts'
import { formatName, nameOf } from '../../src/dns/names/name.ts'
import { directiveOf, problemsOf } from './source.ts'

/** A word at 2:7, where the first argument of `word` stands. */
function wordOf(text: string): Word {
  return directiveOf(`word  "${text}"`).args[0] ?? assert.fail()
}

/** The option in the block of a directive. */
function optionOf(text: string): Option {
  return options(directiveOf(`plugin {\n${text}\n}`))[0] ?? assert.fail()
}

describe('onlyDirective', () => {
  test('returns the only one', () => {
    const directive = directiveOf('loop')
    assert.equal(onlyDirective([directive]), directive)
  })

  test('rejects a second one at its position', () => {
    const first = directiveOf('loop')
    const second: Directive = { ...first, line: 9 }
    assert.deepEqual(
      problemsOf(() => onlyDirective([first, second])),
      ['9:1: "loop" appears twice in this server block; remove one'],
    )
  })
})

describe('checkArgs', () => {
  const cases: { text: string; max: number; problems: readonly string[] }[] = [
    { text: 'loop', max: 0, problems: [] },
    { text: 'loop a', max: 0, problems: ['2:6: "loop" takes no arguments, got "a"'] },
    { text: 'bufsize 1', max: 1, problems: [] },
    { text: 'bufsize', max: 1, problems: [] },
    {
      text: 'bufsize 1 2 3',
      max: 1,
      problems: ['2:11: "bufsize" takes at most 1 argument(s), got "2"'],
    },
  ]
  for (const { text, max, problems } of cases) {
    test(`${problems.length === 0 ? 'takes' : 'refuses'} ${text}`, () => {
      const directive = directiveOf(text)
      assert.deepEqual(
        problemsOf(() => checkArgs(directive, max)),
        problems,
      )
      if (problems.length === 0) assert.equal(checkArgs(directive, max), directive.args)
    })
  }
})

describe('checkNoBlock', () => {
  const cases: { name: string; text: string; problems: readonly string[] }[] = [
    { name: 'takes none', text: 'loop', problems: [] },
    { name: 'takes an empty one', text: 'loop {\n}', problems: [] },
    {
      name: 'refuses one, and points into it',
      text: 'loop {\n  a b\n}',
      problems: ['3:3: "loop" has no options; remove "a"'],
    },
  ]
  for (const { name, text, problems } of cases) {
    test(name, () => {
      assert.deepEqual(
        problemsOf(() => checkNoBlock(directiveOf(text))),
        problems,
      )
    })
  }
})

describe('options', () => {
  test('are the lines of a block', () => {
    const found = options(directiveOf('cache {\n  success 1 2\n\n  denial\n}'))
    assert.deepEqual(
      found.map(({ name, line, column, args }) => [name, line, column, args.length]),
      [
        ['success', 3, 3, 2],
        ['denial', 5, 3, 0],
      ],
    )
  })

  test('are none without a block', () => {
    assert.deepEqual(options(directiveOf('cache 30')), [])
  })

  test('have no block of their own', () => {
    assert.deepEqual(
      problemsOf(() => options(directiveOf('cache {\n  success 1 {\n    a\n  }\n}'))),
      ['4:5: "success" takes no block'],
    )
  })
})

describe('unknownOption', () => {
  const cases: { name: string; hint: string }[] = [
    { name: 'sucess', hint: 'did you mean "success"?' },
    { name: 'DENIAL', hint: 'it has success, denial' },
    { name: 'prefetch', hint: 'it has success, denial' },
  ]
  for (const { name, hint } of cases) {
    test(`says what there is instead of ${name}`, () => {
      const { message } = unknownOption('cache', optionOf(name), ['success', 'denial'])
      assert.equal(message, `/etc/Corefile:3:1: "cache" has no option "${name}"; ${hint}`)
    })
  }
})

describe('argTexts', () => {
  const cases: {
    text: string
    bounds: readonly [min: number, max?: number]
    problems: readonly string[]
  }[] = [
    { text: 'a', bounds: [0], problems: [] },
    { text: 'a b', bounds: [0], problems: ['3:1: "a" takes 0 argument(s), got 1'] },
    { text: 'a b c', bounds: [2], problems: [] },
    { text: 'a b', bounds: [2], problems: ['3:1: "a" takes 2 argument(s), got 1'] },
    { text: 'a b c d', bounds: [2], problems: ['3:1: "a" takes 2 argument(s), got 3'] },
    { text: 'a', bounds: [1, 2], problems: ['3:1: "a" takes 1 to 2 argument(s), got 0'] },
    { text: 'a b c', bounds: [1, 2], problems: [] },
    { text: 'a b c d', bounds: [1, 2], problems: ['3:1: "a" takes 1 to 2 argument(s), got 3'] },
    {
      text: 'a',
      bounds: [1, Infinity],
      problems: ['3:1: "a" takes 1 or more argument(s), got 0'],
    },
    { text: 'a b c d e', bounds: [1, Infinity], problems: [] },
  ]
  for (const { text, bounds, problems } of cases) {
    test(`of "${text}", wanted ${bounds.join(' to ')}`, () => {
      const option = optionOf(text)
      assert.deepEqual(
        problemsOf(() => argTexts(option, ...bounds)),
        problems,
      )
      if (problems.length > 0) return
      assert.deepEqual(argTexts(option, ...bounds), text.split(' ').slice(1))
    })
  }
})

describe('parseCount', () => {
  const taken: { text: string; count: number }[] = [
    { text: '1', count: 1 },
    { text: '3600', count: 3600 },
    { text: '0030', count: 30 },
  ]
  for (const { text, count } of taken) {
    test(`takes ${text}`, () => {
      assert.equal(parseCount(wordOf(text), 1, 3600), count)
    })
  }
  for (const text of [
    '',
    '0',
    '3601',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x10',
    ' 1',
    '1s',
    '9'.repeat(400),
  ]) {
    test(`refuses "${text.slice(0, 9)}"`, () => {
      assert.deepEqual(
        problemsOf(() => parseCount(wordOf(text), 1, 3600)),
        [`2:7: "${text}" is not a number from 1 to 3600`],
      )
    })
  }
})

describe('parseDuration', () => {
  const taken: { text: string; ms: number }[] = [
    { text: '0', ms: 0 },
    { text: '0s', ms: 0 },
    { text: '30s', ms: 30_000 },
    { text: '1m30s', ms: 90_000 },
    { text: '1h0m0.5s', ms: 3_600_500 },
    { text: '500ms', ms: 500 },
    { text: '1.5h', ms: 5_400_000 },
    { text: '250us', ms: 0.25 },
    { text: '250µs', ms: 0.25 },
    { text: '250μs', ms: 0.25 },
    { text: '5000000ns', ms: 5 },
    { text: '.5s', ms: 500 },
    { text: '5.s', ms: 5000 },
    { text: '+1h.5m', ms: 3_630_000 },
    { text: '-0', ms: 0 },
    { text: '2562047h', ms: 9_223_369_200_000 },
  ]
  for (const { text, ms } of taken) {
    test(`takes ${text}`, () => {
      assert.equal(parseDuration(wordOf(text)), ms)
    })
  }
  const refused = ['', '30', 's', '-1s', '1 s', '1d', '1S', '1s30', '.s', '1.5.5s', '1e3s', '00']
  for (const text of [...refused, '+', '.', '3000000h', '-.5s']) {
    test(`refuses "${text}"`, () => {
      assert.deepEqual(
        problemsOf(() => parseDuration(wordOf(text))),
        [`2:7: "${text}" is not a duration such as 30s, 1m30s or 500ms`],
      )
    })
  }

  test('adds its parts', () => {
    fc.assert(
      fc.property(fc.nat(999), fc.nat(999), fc.nat(999), (h, m, s) => {
        const ms = 3_600_000 * h + 60_000 * m + 1000 * s
        assert.equal(parseDuration(wordOf(`${h}h${m}m${s}s`)), ms)
      }),
    )
  })
})

describe('zonesOf', () => {
  const otherwise = [nameOf('example.org')]

  test('returns the default without words', () => {
    assert.equal(zonesOf([], otherwise), otherwise)
  })

  test('parses names and CIDR blocks in order', () => {
    const { args } = directiveOf('cache Cluster.Local 192.0.2.0/23 .')
    assert.deepEqual(
      zonesOf(args, otherwise).map((zone) => formatName(zone)),
      ['cluster.local.', '2.0.192.in-addr.arpa.', '3.0.192.in-addr.arpa.', '.'],
    )
  })

  test('rejects an invalid name at its position', () => {
    assert.deepEqual(
      problemsOf(() => zonesOf(directiveOf('cache a b..c').args, otherwise)),
      ['2:9: "b..c" is not a domain name'],
    )
  })
})

describe('nearest', () => {
  const known = ['success', 'denial', 'serve_stale', 'ttl']
  const cases: { name: string; text: string; found: string | undefined }[] = [
    { name: 'finds the word itself', text: 'denial', found: 'denial' },
    { name: 'finds a word with a surplus letter', text: 'deniall', found: 'denial' },
    { name: 'finds a word with two letters too many', text: 'xdeniall', found: 'denial' },
    { name: 'finds a word without a letter', text: 'sucess', found: 'success' },
    { name: 'finds a word with another letter', text: 'serve-stale', found: 'serve_stale' },
    { name: 'finds a word with two letters turned', text: 'scucess', found: 'success' },
    { name: 'finds nothing three letters away', text: 'suckzez', found: undefined },
    { name: 'finds nothing near nothing', text: '', found: undefined },
    { name: 'finds the nearer of two', text: 'ttll', found: 'ttl' },
  ]
  for (const { name, text, found } of cases) {
    test(name, () => {
      assert.equal(nearest(text, known), found)
    })
  }

  test('counts swapped letters as one mistake', () => {
    assert.equal(nearest('cahce', ['cancel', 'cache']), 'cache')
  })

  test('finds nothing among nothing', () => {
    assert.equal(nearest('a', []), undefined)
  })

  test('finds a word without any two letters', () => {
    const word = 'endpoint_pod_names'
    fc.assert(
      fc.property(fc.nat(word.length - 1), fc.nat(word.length - 2), (i, j) => {
        const once = word.slice(0, i) + word.slice(i + 1)
        const twice = once.slice(0, j) + once.slice(j + 1)
        assert.equal(nearest(twice, [word, 'x'.repeat(16)]), word)
        const thrice = twice.slice(1)
        assert.equal(nearest(thrice, [word]), undefined)
      }),
    )
  })
})
