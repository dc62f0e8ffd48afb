import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { writeUint16 } from '../../../../src/dns/bytes/bytes.ts'
import { formatName } from '../../../../src/dns/names/name.ts'
import { QuestionlessError } from '../../../../src/resolver/contract/host.ts'
import { directive, type Server } from '../../../ask.ts'
import type { UpstreamScript } from '../../../fake-host.ts'
import { formatReply, writeReplyText } from '../../../message-text.ts'
import { A, ASK } from './relay-cases.ts'
import { DEAD, serveForward } from './serve-forward.ts'
import { spoiled } from './wrong-answers.ts'

function nameIn(message: Uint8Array): string {
  return formatName(message.subarray(12, message.indexOf(0, 12) + 1))
}

describe('random_case', () => {
  const mixed = (...options: string[]): string =>
    directive('forward . 192.0.2.1', 'random_case', ...options)
  const answer: UpstreamScript = ({ message }) => writeReplyText(['NOERROR', A], message)
  /** An upstream that returns the name in lower case over UDP. */
  const folding: UpstreamScript = ({ message, protocol }) => {
    const reply = writeReplyText(['NOERROR', A], message)
    if (protocol === 'udp')
      for (let at = 13; at < 28; at++)
        if ((reply[at] ?? 0) > 0x40) reply[at] = (reply[at] ?? 0) | 0x20
    return reply
  }
  const asked = ({ host }: Server): string[] =>
    host.asked.map(({ protocol, message }) => `${protocol} ${nameIn(message)}`)
  const mismatches = ({ host }: Server): string | undefined =>
    /^kubedoh_forward_case_mismatches_total\{to="192\.0\.2\.1:53"\} (\d+)$/m.exec(
      host.metrics.format(),
    )?.[1]

  test('sends the name in random case, and answers in the case of the client', async () => {
    const server = serveForward(mixed(), { 1: answer })
    const seen = new Set<string>()
    for (let i = 0; i < 8; i++) {
      const reply = await server.askBytes('wWw.eXample.org A')
      assert.ok(reply)
      assert.deepEqual(formatReply(reply), ['NOERROR rd', A.replace('www.example', 'wWw.eXample')])
      assert.equal(nameIn(reply), 'wWw.eXample.org.')
      const [line = ''] = asked(server).slice(-1)
      assert.match(line, /^udp www\.example\.org\.$/i)
      seen.add(line)
    }
    assert.ok(seen.size >= 7, [...seen].join())
    assert.equal(mismatches(server), undefined)
  })

  test('repeats a query over TCP if the case of the response is another', async () => {
    const server = serveForward(mixed(), { 1: folding })
    for (let i = 1; i <= 3; i++) {
      assert.deepEqual(await server.ask(ASK), ['NOERROR rd', A])
      assert.match(
        asked(server).slice(-2).join(),
        /^udp www\.example\.org\.,tcp www\.example\.org\.$/i,
      )
      assert.equal(asked(server).at(-1), 'tcp www.example.org.')
      assert.equal(mismatches(server), String(i))
    }
  })

  test('takes no response in another case if TCP fails', async () => {
    const server = serveForward(mixed('max_connect_attempts 1'), {
      1: (one) => (one.protocol === 'tcp' ? DEAD : folding(one)),
    })
    assert.deepEqual(await server.ask(ASK), ['SERVFAIL rd'])
  })

  test('counts the time of both queries together', async () => {
    const server = serveForward(mixed('max_connect_attempts 1'), {
      1: async (one) => {
        if (one.protocol === 'tcp') return 'silence'
        await new Promise<void>((resolve) => {
          server.host.after(1500, resolve)
        })
        return folding(one)
      },
    })
    const reply = server.ask(ASK)
    await server.host.advance(2000)
    assert.deepEqual(await reply, ['SERVFAIL rd'])
    assert.deepEqual(
      server.host.asked.slice(0, 2).map(({ timeoutMs }) => timeoutMs),
      [2000, 500],
    )
  })

  for (const line of [
    mixed('force_tcp'),
    directive('forward . tls://192.0.2.1', 'random_case'),
    directive('forward . https://192.0.2.1', 'random_case'),
    'forward . 192.0.2.1',
  ]) {
    test(`leaves the case as it is with ${line.replaceAll(/\s+/g, ' ')}`, async () => {
      const server = serveForward(line, {
        1: answer,
        '192.0.2.1:853': answer,
        'https://192.0.2.1/dns-query': answer,
      })
      assert.deepEqual(await server.ask('wWw.example.org A'), [
        'NOERROR rd',
        A.replace('www', 'wWw'),
      ])
      assert.equal(nameIn(server.host.asked[0]?.message ?? new Uint8Array()), 'wWw.example.org.')
    })
  }
})

describe('a response over UDP that cannot be read', () => {
  const B = A.replace('192.0.2.80', '192.0.2.81')
  const cut =
    (size: number): UpstreamScript =>
    ({ message }) =>
      writeReplyText(['NOERROR', A, B], message).subarray(0, size)
  /** What an upstream sends over UDP to a question of 33 bytes; a record has 16 bytes. */
  const cases: { name: string; datagram: UpstreamScript; why: string }[] = [
    { name: 'cut before its records', datagram: cut(33), why: 'ends after 0 of 2 records' },
    { name: 'cut between records', datagram: cut(49), why: 'ends after 1 of 2 records' },
    { name: 'cut within a record', datagram: cut(55), why: 'ends within record 2 of 2' },
    {
      name: 'whose counts promise more',
      datagram: spoiled(['NOERROR', A, B], (reply) => writeUint16(reply, 10, 1)),
      why: 'ends after 2 of 3 records',
    },
    {
      name: 'with a record that is longer than the message',
      datagram: spoiled(['NOERROR', A, B], (reply) => writeUint16(reply, 59, 400)),
      why: 'ends within record 2 of 2',
    },
    {
      name: 'with a pointer that points forward',
      datagram: spoiled(['NOERROR', A, B], (reply) => writeUint16(reply, 33, 0xc031)),
      why: 'has an invalid name in record 1 of 2',
    },
    {
      name: 'without a question',
      datagram: () => new QuestionlessError(),
      why: 'has no question',
    },
  ]
  const protocols = ({ host }: Server): string =>
    host.asked
      .filter(({ question }) => question.toLowerCase().startsWith('www'))
      .map(({ protocol }) => protocol)
      .join(' ')
  const counted = ({ host }: Server): string | undefined =>
    /^kubedoh_forward_unreadable_responses_total\{to="192\.0\.2\.1:53"\} (\d+)$/m.exec(
      host.metrics.format(),
    )?.[1]

  for (const { name, datagram, why } of cases) {
    for (const option of ['max_fails 2', 'prefer_udp', 'random_case']) {
      test(`${name} is repeated over TCP, with ${option}`, async () => {
        const server = serveForward(directive('forward . 192.0.2.1', option), {
          1: (one) => (one.protocol === 'udp' ? datagram(one) : ['NOERROR', A, B]),
        })
        assert.deepEqual(await server.ask(ASK), ['NOERROR rd', A, B])
        assert.equal(protocols(server), 'udp tcp')
        assert.equal(counted(server), '1')
        assert.deepEqual(server.host.events, [])
      })
    }

    test(`${name} is the reason in the log if TCP fails too`, async () => {
      const line = directive('forward . 192.0.2.1', 'max_connect_attempts 1')
      const server = serveForward(line, {
        1: (one) => (one.protocol === 'udp' ? datagram(one) : DEAD),
      })
      assert.deepEqual(await server.ask(ASK), ['SERVFAIL rd'])
      const message = `192.0.2.1:53 sent a response that ${why}; over TCP: connection refused`
      assert.equal(server.host.events[0]?.message, message)
    })
  }

  test('is the reason in the log if that over TCP cannot be read either', async () => {
    const line = directive('forward . 192.0.2.1', 'max_connect_attempts 1')
    const server = serveForward(line, { 1: cut(55) })
    assert.deepEqual(await server.ask(`${ASK} +tcp`), ['SERVFAIL rd'])
    const message = '192.0.2.1:53 sent a response that ends within record 2 of 2'
    assert.equal(server.host.events[0]?.message, message)
    assert.equal(protocols(server), 'tcp')
  })

  test('is taken from a connection if only its counts promise more', async () => {
    const more = spoiled(['NOERROR', A, B], (reply) => writeUint16(reply, 10, 1))
    const server = serveForward('forward . 192.0.2.1', { 1: more })
    assert.deepEqual(await server.ask(ASK), ['NOERROR rd', A, B])
    assert.equal(protocols(server), 'udp tcp')
  })
})
