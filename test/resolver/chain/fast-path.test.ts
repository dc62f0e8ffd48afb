import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { EMPTY_REPLY } from '../../../src/dns/wire/message.ts'
import { parseQuery, type Query } from '../../../src/dns/wire/query.ts'
import { ReplyWriter } from '../../../src/dns/wire/reply-writer.ts'
import { compileFastPath, type FastPath } from '../../../src/resolver/chain/fast-path.ts'
import type { Client } from '../../../src/resolver/contract/client.ts'
import type {
  FastPathPart,
  FastReplyOptions,
} from '../../../src/resolver/contract/fast-path-part.ts'
import type { Plugin } from '../../../src/resolver/contract/plugin.ts'
import { parseQuestion } from '../../message-text.ts'

const CLIENT: Client = { address: '192.0.2.1', port: 1, transport: 'udp' }
const serve = (): typeof EMPTY_REPLY => EMPTY_REPLY

/** A plugin that answers with a reply of seven bytes. */
function answering(seen: FastReplyOptions[] = []): Plugin {
  const answer = (_: unknown, __: unknown, how: FastReplyOptions): number => {
    seen.push({ ...how })
    return 7
  }
  return { name: 'answering', serve, fastPath: { answer } }
}

function compiled(plugins: readonly Plugin[]): FastPath {
  const way = compileFastPath(plugins)
  if (way === undefined) throw new TypeError('No fast path')
  return way
}

function askBy(way: FastPath, question: string, client = CLIENT): number {
  const query = parseQuery(parseQuestion(question).message)
  if (query.kind !== 'query') throw new TypeError('Not a query')
  return way.answer(query, client, new ReplyWriter())
}

function ask(plugins: readonly Plugin[], question = 'a.example.org A', client = CLIENT): number {
  return askBy(compiled(plugins), question, client)
}

describe('compileFastPath', () => {
  const cases: { name: string; plugins: Plugin[]; hasWay: boolean }[] = [
    { name: 'none exists without plugins', plugins: [], hasWay: false },
    {
      name: 'none exists when no plugin answers',
      plugins: [{ name: 'a', serve, fastPath: {} }],
      hasWay: false,
    },
    { name: 'it points to the plugin that answers', plugins: [answering()], hasWay: true },
    {
      name: 'it points past plugins with no part in answers',
      plugins: [{ name: 'a' }, answering()],
      hasWay: true,
    },
    {
      name: 'it points past plugins with a part of their own in it',
      plugins: [{ name: 'a', serve, fastPath: {} }, answering()],
      hasWay: true,
    },
    {
      name: 'it does not point past others',
      plugins: [{ name: 'a', serve }, answering()],
      hasWay: false,
    },
    {
      name: 'it does not depend on the plugins after',
      plugins: [answering(), { name: 'a', serve }],
      hasWay: true,
    },
  ]
  for (const { name, plugins, hasWay } of cases) {
    test(name, () => {
      assert.equal(compileFastPath(plugins)?.plugin, hasWay ? 'answering' : undefined)
    })
  }
})

describe('a plugin that answers only if no later one can', () => {
  const yielding: Plugin = {
    name: 'yielding',
    serve,
    fastPath: { needsSlowPath: ({ type }) => type === 1, answer: () => 9 },
  }

  test('answers as the last one', () => {
    assert.equal(compileFastPath([yielding, { name: 'a', serve }])?.plugin, 'yielding')
  })

  test('leaves other names to a later one', () => {
    const plugins = [yielding, answering()]
    assert.equal(compileFastPath(plugins)?.plugin, 'answering')
    assert.deepEqual([ask(plugins), ask(plugins, 'a.example.org AAAA')], [0, 7])
  })
})

describe('FastPath', () => {
  test('ends where a plugin has to see the query itself', () => {
    const seen: FastReplyOptions[] = []
    const careful: Plugin = {
      name: 'a',
      serve,
      fastPath: { needsSlowPath: ({ type }) => type === 1 },
    }
    assert.equal(ask([careful, answering(seen)]), 0)
    assert.equal(ask([careful, answering(seen)], 'a.example.org AAAA'), 7)
    assert.equal(seen.length, 1)
  })

  test('ends where a client is to be seen', () => {
    const needsSlowPath = (_: unknown, { port }: Client): boolean => port === 2
    const careful: Plugin = { name: 'a', serve, fastPath: { needsSlowPath } }
    assert.equal(ask([careful, answering()]), 7)
    assert.equal(ask([careful, answering()], 'a.example.org A', { ...CLIENT, port: 2 }), 0)
  })

  test('ends where a plugin does not accept the response, and calls no observer', () => {
    let answers = 0
    const counting: Plugin = { name: 'a', serve, fastPath: { answered: () => answers++ } }
    const strict = (accepted: boolean): Plugin => {
      return { name: 'b', serve, fastPath: { accepts: () => accepted } }
    }
    assert.equal(ask([counting, strict(true), answering()]), 7)
    assert.equal(answers, 1)
    assert.equal(ask([counting, strict(false), answering()]), 0)
    assert.equal(answers, 1)
  })

  test('ends where the client requests the server identifier', () => {
    assert.equal(ask([answering()], 'a.example.org A +edns +nsid'), 0)
  })

  test('starts again for each query', () => {
    const seen: FastReplyOptions[] = []
    const prepare = (how: FastReplyOptions): void => {
      how.isMinimal = true
      how.bytesMax--
      how.flagsSet += 5
      how.hasTtlBounds = true
    }
    const way = compiled([{ name: 'a', serve, fastPath: { prepare } }, answering(seen)])
    askBy(way, 'a.example.org A')
    askBy(way, 'a.example.org A')
    assert.deepEqual(seen[0], seen[1])
    assert.equal(seen[0]?.flagsSet, 5)
    assert.equal(seen[0]?.bytesMax, 511)
  })

  test('goes for every query by what plugins say once, and then by what they say of it', () => {
    const seen: FastReplyOptions[] = []
    const always = (how: FastReplyOptions): void => {
      how.isMinimal = true
      how.answerTtlMax = 30
    }
    const prepare = (how: FastReplyOptions, { type }: Query): void => {
      if (type === 28) how.answerTtlMax = 5
    }
    const plain = [{ name: 'a', serve, fastPath: { configure: always } }]
    for (const plugins of [plain, [...plain, { name: 'b', serve, fastPath: { prepare } }]]) {
      const way = compiled([...plugins, answering(seen)])
      for (const type of ['A', 'AAAA', 'A']) askBy(way, `a.example.org ${type}`)
    }
    assert.deepEqual(
      seen.map(({ answerTtlMax }) => answerTtlMax),
      [30, 30, 30, 30, 5, 30],
    )
    assert.ok(seen.every(({ isMinimal }) => isMinimal))
  })

  test('has flags of the reply set and cleared', () => {
    const prepare = (how: FastReplyOptions): void => {
      how.flagsSet = 0x80
      how.flagsCleared = 0x500
    }
    const { message } = parseQuestion('a.example.org A')
    const query = parseQuery(message)
    assert.ok(query.kind === 'query')
    const writer = new ReplyWriter()
    const answer: FastPathPart['answer'] = (_, reply) => {
      reply.begin(query, { bytesMax: 512 })
      return reply.finish(3, 0x400)
    }
    const plugins: Plugin[] = [
      { name: 'a', serve, fastPath: { prepare } },
      { name: 'b', serve, fastPath: { answer } },
    ]
    compileFastPath(plugins)?.answer(query, CLIENT, writer)
    assert.deepEqual([...writer.bytes.subarray(2, 4)], [0x80, 0x83])
  })

  test('says how large and how padded the reply may be', () => {
    const seen: FastReplyOptions[] = []
    ask([answering(seen)], 'a.example.org A +edns=1200')
    ask([answering(seen)], 'a.example.org A', { ...CLIENT, transport: 'tcp' })
    ask([answering(seen)], 'a.example.org A', { ...CLIENT, transport: 'https' })
    assert.deepEqual(
      seen.map(({ isUdp, bytesMax, paddingBlock }) => [isUdp, bytesMax, paddingBlock]),
      [
        [true, 1200, 0],
        [false, 65_535, 0],
        [false, 65_535, 468],
      ],
    )
  })

  test('reports answers to plugins, and nothing else', () => {
    let answers = 0
    const counting: Plugin = { name: 'a', serve, fastPath: { answered: () => answers++ } }
    ask([counting, answering()])
    assert.equal(answers, 1)
    ask([counting, { name: 'none', serve, fastPath: { answer: () => 0 } }])
    assert.equal(answers, 1)
  })
})
