/**
 * Answers of the real k8s_gateway (commit bd2cc78 of github.com/k8s-gateway/k8s_gateway, in CoreDNS
 * 1.14.4), which watched a real API server with the objects of `recorded.yaml`. Its serial is
 * always 12345, and reads SERIAL here; the order of records within a reply is free.
 * @module
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { block, directive, serve } from '../../../ask.ts'
import { GENERATION } from '../../../fake-cluster.ts'

type Recording = {
  readonly zones: string
  readonly options: readonly string[]
  /** Questions by the reply that they got. */
  readonly replies: Readonly<Record<string, readonly string[]>>
}

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8')
const recordings: readonly Recording[] = JSON.parse(read('recorded.json'))
const objects = read('recorded.yaml')
const EXISTENCE_TYPES = ['A', 'AAAA', 'TXT']

/**
 * What is answered in place of a recorded reply. The original decides for A and AAAA together
 * whether a name exists, for TXT alone, and for other types not at all; and it answers for SOA with
 * the zone's record, whatever the name. Here a name exists for all types or for none, and one above
 * hostnames exists, too (RFC 8020). Quotes around a whole text are no part of it.
 */
function expectedOf(recorded: string, isThere: boolean, question: string): string {
  const reply = recorded.replace(String.raw`"\"quoted\""`, '"quoted"')
  const [name = ''] = question.split(' ')
  const [head = '', ...lines] = reply.split(' | ')
  const own = `${name}. `.toLowerCase()
  const hasOwn = lines.some((line) => line.toLowerCase().startsWith(own))
  if (!head.includes(' aa') || hasOwn) return reply
  const denied = lines.map((line) => (/^\S+ 60 IN SOA/.test(line) ? `authority: ${line}` : line))
  const words = head.replace(/^\S+/, isThere ? 'NOERROR' : 'NXDOMAIN')
  return [words, ...denied].join(' | ')
}

/** Neither letter case nor order matters. */
function inOrder(lines: readonly string[]): string[] {
  return lines.map((line) => line.toLowerCase()).sort()
}

describe('k8s_gateway answers as the original for', () => {
  for (const { zones, options, replies } of recordings) {
    test([zones, ...options].join('; '), async () => {
      const recorded = new Map(
        Object.entries(replies).flatMap(([reply, questions]) =>
          questions.map((question) => [question, reply] as const),
        ),
      )
      const server = serve(block(directive(`k8s_gateway ${zones}`, ...options)), {
        cluster: { objects },
      })
      const existing = [...recorded.keys()].flatMap((question) => {
        const [name = '', type = ''] = question.split(' ')
        const hasRecords = recorded.get(question)?.startsWith('NOERROR') === true
        return EXISTENCE_TYPES.includes(type) && hasRecords ? [name] : []
      })
      let changed = 0
      for (const [question, reply] of recorded) {
        const [name = ''] = question.split(' ')
        const isThere = existing.some((one) => one === name || one.endsWith(`.${name}`))
        const expected = expectedOf(reply, isThere, question)
        const [head, ...lines] = await server.ask(`${question} +edns=1232`)
        const ours = lines.map((line) => line.replace(String(GENERATION), 'SERIAL'))
        assert.deepEqual(
          inOrder([head ?? '', ...ours]),
          inOrder(expected.split(' | ')),
          `${question}: ${reply}`,
        )
        if (expected !== reply) changed++
      }
      // Most of what differs is SOA, NS and MX of names that are not there.
      assert.ok(recorded.size === 252 && changed < recorded.size / 2, `${changed} differ`)
    })
  }
})
