import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { asWordBytes } from '../../../src/dns/bytes/bytes.ts'
import { nameOf } from '../../../src/dns/names/name.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { parseResponse, type Response } from '../../../src/dns/wire/message.ts'
import { parseQuery } from '../../../src/dns/wire/query.ts'
import { ReplyWriter } from '../../../src/dns/wire/reply-writer.ts'
import { writeQuery } from '../../../src/dns/wire/write-query.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { SetWriter } from '../../../src/snapshot/read/set-writer.ts'
import type { Shard } from '../../../src/snapshot/read/shard.ts'
import type { ZoneEntry } from '../../../src/snapshot/records/zone-entry.ts'
import { formatRecord } from '../../../src/snapshot/records/zone-text.ts'
import { buildShard } from '../../../src/snapshot/write/build-shards.ts'
import { existingName, labels, ORIGIN, pointer, rrset } from '../entries.ts'

/** Names below one Service: records lead to no others. */
const WEB = 'web.shop.svc'

type Step = (sets: SetWriter, shard: Shard, ref: number) => void

type Options = {
  /** What to ask for, relative. */
  readonly name?: string
  readonly type?: number
  readonly step?: Step
  readonly rotation?: number
  readonly bytesMax?: number
  readonly origin?: Uint8Array
}

/** Answers with the set of a name and a type, by one step of the writer. */
function answer(entries: readonly ZoneEntry[], options: Options = {}): Response & { size: number } {
  const { name = 'x', type = TYPE.A, step = writeAnswer, bytesMax = 65_535 } = options
  const shard = openShard(buildShard(entries).bytes)
  const sets = new SetWriter(new ReplyWriter())
  const query = parseQuery(writeQuery({ name: nameOf(`${name}.cluster.local`), type }))
  assert.ok(query.kind === 'query')
  sets.origin = asWordBytes(options.origin ?? ORIGIN)
  const { rotation } = options
  sets.rotation = rotation === undefined ? undefined : () => rotation
  sets.reply.begin(query, { bytesMax })
  step(sets, shard, shard.findSet(shard.findNode(labels(name), labels(name).length), type))
  const size = sets.reply.finish(0, 0)
  const response = parseResponse(sets.reply.bytes.subarray(0, size))
  assert.ok(response)
  return { ...response, size }
}

const writeAnswer: Step = (sets, shard, ref) => sets.writeAnswer(shard, ref)
const writeService: Step = (sets, shard, ref) => {
  sets.writeAnswer(shard, ref)
  sets.writeTargetAddresses(shard, ref)
}

describe('SetWriter.writeAnswer', () => {
  const cases: { name: string; lines: string; asked?: string; more?: readonly ZoneEntry[] }[] = [
    { name: 'addresses', lines: 'x.cluster.local. 5 IN A 192.0.2.1' },
    {
      name: 'IPv6 addresses',
      lines: 'x.cluster.local. 5 IN AAAA 2001:db8::1\nx.cluster.local. 5 IN AAAA 2001:db8::2',
    },
    {
      name: 'SRV records with targets of the shard',
      lines: `x.${WEB}.cluster.local. 5 IN SRV 0 50 80 a.${WEB}.cluster.local.
              x.${WEB}.cluster.local. 5 IN SRV 1 50 443 a.${WEB}.cluster.local.`,
      asked: `x.${WEB}`,
      more: [existingName(`a.${WEB}`)],
    },
    {
      name: 'SRV records with targets elsewhere',
      lines: `x.cluster.local. 5 IN SRV 0 50 80 a.cluster.local.
              x.cluster.local. 5 IN SRV 0 50 80 www.example.org.`,
    },
    {
      name: 'a name below the origin',
      lines: 'x.cluster.local. 5 IN CNAME a.b.cluster.local.',
    },
    { name: 'the origin itself', lines: 'x.cluster.local. 5 IN MX 10 cluster.local.' },
    { name: 'an absolute name', lines: 'x.cluster.local. 5 IN CNAME www.example.org.' },
    {
      name: 'rdata of several parts, absolute and relative',
      lines: `x.cluster.local. 5 IN MX 10 www.example.org.
              x.cluster.local. 5 IN MX 20 a.cluster.local.`,
    },
    { name: 'DNAME records', lines: 'x.cluster.local. 5 IN DNAME a.cluster.local.' },
    { name: 'text', lines: 'x.cluster.local. 16777215 IN TXT "one" "two"' },
    { name: 'a type that is not known', lines: 'x.cluster.local. 0 IN TYPE65280 \\# 2 0102' },
  ]
  for (const { name, lines, asked = 'x', more = [] } of cases) {
    test(`writes ${name}`, () => {
      const entry = rrset(lines)
      const response = answer([entry, ...more], { name: asked, type: entry.type })
      assert.deepEqual(
        response.answer.map(formatRecord),
        lines.split('\n').map((line) => line.trim()),
      )
      assert.equal(response.truncated, false)
    })
  }

  test('joins names to the origin of the query', () => {
    const entry = rrset('x 5 IN CNAME a.b')
    const response = answer([entry], { type: TYPE.CNAME, origin: nameOf('example.org') })
    assert.deepEqual(response.answer.map(formatRecord), [
      'x.cluster.local. 5 IN CNAME a.b.example.org.',
    ])
  })

  test('starts at the address of the rotation, and wraps around', () => {
    const entry = rrset('x 5 IN A 192.0.2.0\nx 5 IN A 192.0.2.1\nx 5 IN A 192.0.2.2')
    for (const [rotation, lasts] of [
      [0, [0, 1, 2]],
      [1, [1, 2, 0]],
      [5, [2, 0, 1]],
    ] as const) {
      const { answer: records } = answer([entry], { rotation })
      assert.deepEqual(
        records.map(({ rdata }) => rdata[3]),
        lasts,
      )
    }
  })

  test('leaves out names over 255 bytes, and goes on', () => {
    const name = `x.${WEB}`
    const far = `${[1, 2, 3].map((n) => String(n).repeat(63)).join('.')}.${WEB}`
    const near = `near.${WEB}`
    const origin = nameOf(['a'.repeat(63), 'b'].join('.'))
    const srv = rrset(`${name} 5 IN SRV 0 1 1 ${far}\n${name} 5 IN SRV 0 1 2 ${near}`)
    const mail = rrset(`${name} 5 IN MX 1 ${far}\n${name} 5 IN MX 2 ${near}`)
    for (const entries of [[srv], [srv, existingName(far), existingName(near)], [mail]]) {
      const type = entries[0]?.kind === 'records' ? entries[0].type : 0
      const { answer: records, truncated } = answer(entries, { name, type, origin })
      assert.equal(records.length, 1)
      assert.match(formatRecord(records[0] ?? assert.fail()), / 2 near\.web\.shop\.svc\.a+\.b\.$/)
      assert.equal(truncated, false)
    }
  })

  test('points at names that may be pointed at, and at no others (RFC 3597 §4)', () => {
    const sizes = ['CNAME', 'DNAME'].map((type) => {
      const entry = rrset(`x 5 IN ${type} a`)
      return answer([entry], { type: entry.type }).size
    })
    const [pointed = 0, whole = 0] = sizes
    assert.equal(whole - pointed, nameOf('cluster.local').length - 2)
  })

  for (const type of ['A', 'SRV', 'MX'] as const) {
    test(`stops and reports it when the response is full: ${type}`, () => {
      const rdata = { A: '192.0.2.', SRV: '0 1 2 a', MX: '10 a' }[type]
      const lines = Array.from({ length: 200 }, (_, i) => `x 5 IN ${type} ${rdata}${i}`)
      const entry = rrset(lines.join('\n'))
      const targets = lines.map((_, i) => existingName(`a${i}`))
      const {
        answer: records,
        truncated,
        size,
      } = answer([entry, ...targets], {
        type: entry.type,
        bytesMax: 512,
      })
      assert.ok(0 < records.length && records.length < 200)
      assert.ok(truncated)
      assert.ok(size <= 512)
    })
  }
})

describe('SetWriter.writeSet', () => {
  test('writes the names of an address', () => {
    const entries = [
      pointer([192, 0, 2, 1], 'b.svc', { ttlSeconds: 7 }),
      pointer([192, 0, 2, 1], 'a.svc', { ttlSeconds: 7 }),
    ]
    const step: Step = (sets, shard) => {
      const { addresses4 } = shard
      sets.writeSet(shard, addresses4.set(0), addresses4.targetCount(0), TYPE.PTR)
    }
    assert.deepEqual(answer(entries, { step }).answer.map(formatRecord), [
      'x.cluster.local. 7 IN PTR a.svc.cluster.local.',
      'x.cluster.local. 7 IN PTR b.svc.cluster.local.',
    ])
  })
})

describe('SetWriter.writeTargetAddresses', () => {
  const targets = [
    rrset(`a.${WEB} 5 IN A 192.0.2.1\na.${WEB} 5 IN A 192.0.2.2`),
    rrset(`a.${WEB} 6 IN AAAA 2001:db8::1`),
    rrset(`b.${WEB} 5 IN A 192.0.2.3`),
    existingName(`none.${WEB}`),
  ]
  const below = (lines: string): string => lines.replace(/\b(x|a|b|none)(?= 5|$)/gm, `$1.${WEB}`)
  const service = (lines: string): ZoneEntry[] => [rrset(below(lines)), ...targets]
  const a = [
    `a.${WEB}.cluster.local. 5 IN A 192.0.2.1`,
    `a.${WEB}.cluster.local. 5 IN A 192.0.2.2`,
    `a.${WEB}.cluster.local. 6 IN AAAA 2001:db8::1`,
  ]
  const b = [`b.${WEB}.cluster.local. 5 IN A 192.0.2.3`]
  const cases: { name: string; lines: string; additional: readonly string[] }[] = [
    {
      name: 'writes the addresses of each target, in the order of the targets',
      lines: 'x 5 IN SRV 0 1 80 b\nx 5 IN SRV 0 1 80 a',
      additional: [...b, ...a],
    },
    {
      name: 'writes them once for a target of several ports, side by side or not',
      lines: 'x 5 IN SRV 0 1 80 a\nx 5 IN SRV 0 1 81 a\nx 5 IN SRV 0 1 80 b\nx 5 IN SRV 0 1 82 a',
      additional: [...a, ...b],
    },
    {
      name: 'writes nothing for a target without addresses',
      lines: 'x 5 IN SRV 0 1 80 none',
      additional: [],
    },
    {
      name: 'writes nothing for targets of which one is elsewhere',
      lines: 'x 5 IN SRV 0 1 80 a\nx 5 IN SRV 0 1 80 www.example.org.',
      additional: [],
    },
  ]
  for (const { name, lines, additional } of cases) {
    test(name, () => {
      const response = answer(service(lines), {
        name: `x.${WEB}`,
        type: TYPE.SRV,
        step: writeService,
      })
      assert.deepEqual(response.additional.map(formatRecord), additional)
      assert.equal(response.answer.length, lines.split('\n').length)
    })
  }

  test('stops and reports it when the response is full', () => {
    const lines = Array.from({ length: 40 }, (_, i) => `a.${WEB} 5 IN A 192.0.2.${i}`).join('\n')
    const {
      additional,
      answer: records,
      truncated,
      size,
    } = answer([rrset(below('x 5 IN SRV 0 1 80 a')), rrset(lines)], {
      name: `x.${WEB}`,
      type: TYPE.SRV,
      step: writeService,
      bytesMax: 512,
    })
    assert.equal(records.length, 1)
    assert.ok(0 < additional.length && additional.length < 40)
    assert.ok(truncated)
    assert.ok(size <= 512)
  })

  test('leaves out a target whose name is over 255 bytes', () => {
    const far = `${[1, 2, 3].map((n) => String(n).repeat(63)).join('.')}.${WEB}`
    const { additional } = answer(
      [rrset(`x.${WEB} 5 IN SRV 0 1 80 ${far}`), rrset(`${far} 5 IN A 192.0.2.1`)],
      {
        name: `x.${WEB}`,
        type: TYPE.SRV,
        step: writeService,
        origin: nameOf(`${'a'.repeat(63)}.b`),
      },
    )
    assert.deepEqual(additional, [])
  })
})
