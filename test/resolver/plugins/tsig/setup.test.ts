import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { concatBytes, writeUint16 } from '../../../../src/dns/bytes/bytes.ts'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { formatRcode, OPCODE } from '../../../../src/dns/names/rcode.ts'
import { parseType, TYPE } from '../../../../src/dns/names/rr-type.ts'
import { parseResponse } from '../../../../src/dns/wire/message.ts'
import { writeQuery } from '../../../../src/dns/wire/write-query.ts'
import type { Client } from '../../../../src/resolver/contract/client.ts'
import { directive, type Server, serve } from '../../../ask.ts'
import { START_MS } from '../../../fake-host.ts'
import { describeSignature, type Signing, signMessage } from '../../../signed-messages.ts'

const SECRET = 'NoTCJU+DMqFWywaPyxSijrDEA/eC3nK0xi3AMEZuPVk='
const SIGNING: Signing = { key: 'a.key', secret: SECRET, timeSeconds: START_MS / 1000 }
const SIGNED = `a.key. hmac-sha256. NOERROR fudge 300 other 0 time ${START_MS / 1000} good`
const CLIENT: Client = { address: '192.0.2.7', port: 4242, transport: 'udp' }
const SERVICE = `
- {kind: Namespace, metadata: {name: shop}}
- kind: Service
  metadata: {name: web, namespace: shop}
  spec: {clusterIP: 10.96.0.1, ports: [{port: 80}]}
`
const FILES = {
  db: [
    '$TTL 60',
    '@ SOA ns host 7 3600 600 86400 300',
    '@ NS ns',
    'ns A 192.0.2.1',
    'www A 192.0.2.2',
    ...Array.from({ length: 40 }, (_, i) => `many A 192.0.3.${i}`),
    ...Array.from({ length: 600 }, (_, i) => `h${i} TXT "${'x'.repeat(100)}"`),
  ].join('\n'),
}

/** What to ask: of which name and type, and how. */
type Question = {
  readonly name: string
  readonly type?: string
  readonly opcode?: number
  readonly udpBytes?: number
}

function messageOf({ name, type = 'A', opcode = OPCODE.QUERY, udpBytes }: Question): Uint8Array {
  return writeQuery({
    ...{ name: nameOf(name), type: parseType(type) ?? 0, id: 77, flags: opcode << 11 },
    ...(udpBytes !== undefined && { udpBytes }),
  })
}

/** Asks unsigned. @returns response code and number of answers, '' for no reply */
async function ask(server: Server, question: Question): Promise<string> {
  return shown(await server.answer(messageOf(question), CLIENT))
}

function shown(reply: Uint8Array | undefined): string {
  const response = reply && parseResponse(reply)
  if (response === undefined) return ''
  const tc = response.truncated ? ' tc' : ''
  return `${formatRcode(response.rcode)} ${response.answer.length}${tc}`
}

/** Asks signed. @returns the same, and what the signature of the reply is */
async function askSigned(
  server: Server,
  question: Question,
  signing: Partial<Signing> = {},
): Promise<string[]> {
  const how = { ...SIGNING, ...signing }
  const { message, mac } = signMessage(messageOf(question), how)
  const reply = await server.answer(message, CLIENT)
  if (reply === undefined) return []
  return [shown(reply), describeSignature(reply, { ...how, mac }).text]
}

function serveTsig(...lines: string[]): Server {
  const tsig = directive('tsig', `secret a.key. ${SECRET}`, ...lines)
  const directives = [tsig, directive('transfer', 'to *'), 'file db']
  return serve(['example.org {', ...directives, '}'].join('\n'), { files: FILES })
}

describe('tsig', () => {
  const www = { name: 'www.example.org' }
  const server = serveTsig('require TXT AXFR', 'require_opcode NOTIFY')

  test('signs replies to what is signed', async () => {
    assert.deepEqual(await askSigned(server, www), ['NOERROR 1', SIGNED])
    assert.deepEqual(await askSigned(server, { name: 'nope.example.org' }), ['NXDOMAIN 0', SIGNED])
    assert.deepEqual(await askSigned(server, { ...www, udpBytes: 1232 }), ['NOERROR 1', SIGNED])
  })

  test('answers what is not signed and need not be', async () => {
    assert.equal(await ask(server, www), 'NOERROR 1')
  })

  test('refuses what is not signed and must be', async () => {
    assert.equal(await ask(server, { ...www, type: 'TXT' }), 'REFUSED 0')
    assert.deepEqual(await askSigned(server, { ...www, type: 'TXT' }), ['NOERROR 0', SIGNED])
  })

  const bad: { name: string; signing: Partial<Signing>; says: string }[] = [
    {
      name: 'another key',
      signing: { key: 'b.key' },
      says: 'b.key. hmac-sha256. BADKEY fudge 300 other 0 time 0 empty',
    },
    {
      name: 'another secret',
      signing: { secret: 'AAAA' },
      says: 'a.key. hmac-sha256. BADVERS fudge 300 other 0 time 0 empty',
    },
    {
      name: 'another time',
      signing: { timeSeconds: 1000 },
      says: 'a.key. hmac-sha256. BADTIME fudge 300 other 6 time 1000 good',
    },
  ]
  for (const { name, signing, says } of bad) {
    test(`answers nothing to ${name}`, async () => {
      assert.deepEqual(await askSigned(server, www, signing), ['NOTAUTH 0', says])
    })
  }

  test('signs failures', async () => {
    const tsig = directive('tsig', `secret a.key. ${SECRET}`)
    const failing = serve(['example.org {', tsig, '}'].join('\n'))
    assert.deepEqual(await askSigned(failing, www), ['SERVFAIL 0', SIGNED])
  })

  test('leaves room for the signature in a reply over UDP', async () => {
    const many = { name: 'many.example.org' }
    const { message } = signMessage(messageOf(many), SIGNING)
    const reply = await server.answer(message, CLIENT)
    assert.ok(reply !== undefined && reply.length <= 512, String(reply?.length))
    assert.match(shown(reply), /^NOERROR 2\d tc$/)
    const [whole, signature] = await askSigned(server, { ...many, udpBytes: 4096 })
    assert.deepEqual([whole, signature], ['NOERROR 40', SIGNED])
  })

  test('lets names of other zones pass, whatever they are signed with', async () => {
    const tsig = directive('tsig example.org', `secret a.key. ${SECRET}`, 'require all')
    const other = serve(['. {', tsig, 'whoami', '}'].join('\n'))
    const name = 'www.example.net'
    assert.equal(await ask(other, { name }), 'NOERROR 0')
    assert.deepEqual(await askSigned(other, { name }, { secret: 'AAAA' }), [
      'NOERROR 0',
      'unsigned',
    ])
    assert.equal(await ask(other, www), 'REFUSED 0')
  })

  test('takes secrets of other blocks at the same port, and of none elsewhere', async () => {
    const blockOf = (key: string, ...lines: string[]): string =>
      [`${key} {`, directive('tsig', ...lines), 'whoami', '}'].join('\n')
    const corefile = [
      blockOf('example.org', 'require all'),
      blockOf('example.net', `secret a.key ${SECRET}`),
      blockOf('example.com:1053', `secret b.key ${SECRET}`),
    ]
    const shared = serve(corefile.join('\n'))
    assert.deepEqual(await askSigned(shared, www), ['NOERROR 0', SIGNED])
    const [refused] = await askSigned(shared, www, { key: 'b.key' })
    assert.equal(refused, 'NOTAUTH 0')
  })

  test('has its own secret before that of another block', async () => {
    const blockOf = (zone: string, secret: string): string =>
      [`${zone} {`, directive('tsig', `secret a.key ${secret}`), 'whoami', '}'].join('\n')
    const two = serve([blockOf('example.org', SECRET), blockOf('example.net', 'AAAA')].join('\n'))
    assert.deepEqual(await askSigned(two, www), ['NOERROR 0', SIGNED])
  })

  test('calls a signature malformed that says nothing', async () => {
    const { message } = signMessage(messageOf(www), SIGNING)
    const at = messageOf(www).length + nameOf('a.key').length + 8
    const short = message.slice(0, -1)
    writeUint16(short, at, message.length - at - 2 - 1)
    assert.equal(shown(await server.answer(short, CLIENT)), 'FORMERR 0')
  })

  test('takes no record for a signature but the last', async () => {
    const { message } = signMessage(messageOf({ ...www, type: 'TXT' }), SIGNING)
    const opt = Uint8Array.of(0, 0, TYPE.OPT, 4, 208, 0, 0, 0, 0, 0, 0)
    const moved = concatBytes(message, opt)
    writeUint16(moved, 10, 2)
    assert.equal(shown(await server.answer(moved, CLIENT)), 'REFUSED 0')
  })

  test('signs each message of a transfer', async () => {
    const messages: Uint8Array[] = []
    const sendAhead = (message: Uint8Array): Promise<void> => {
      messages.push(message)
      return Promise.resolve()
    }
    const axfr = signMessage(messageOf({ name: 'example.org', type: 'AXFR' }), SIGNING)
    const client: Client = { ...CLIENT, transport: 'tcp', sendAhead }
    const last = await server.answer(axfr.message, client)
    assert.ok(last)
    let { mac } = axfr
    let records = 0
    for (const [i, message] of [...messages, last].entries()) {
      const said = describeSignature(message, { ...SIGNING, mac }, i === 0)
      assert.equal(said.text, SIGNED)
      mac = said.mac
      records += parseResponse(message)?.answer.length ?? 0
    }
    assert.equal(records, 645)
    assert.ok(messages.length >= 4)
    const unsigned = await server.answer(messageOf({ name: 'example.org', type: 'AXFR' }), client)
    assert.equal(shown(unsigned), 'REFUSED 0')
  })

  test('refuses notices that are not signed where they must be, and signs what it says', async () => {
    const notice = { name: 'example.org', type: 'SOA', opcode: OPCODE.NOTIFY }
    assert.equal(await ask(server, notice), 'REFUSED 0')
    const tsig = directive('tsig', `secret a.key. ${SECRET}`)
    const secondary = directive('secondary', 'transfer from 192.0.2.7')
    const taking = serve(['example.org {', tsig, secondary, '}'].join('\n'))
    assert.deepEqual(await askSigned(taking, notice), ['NOERROR 0', SIGNED])
    assert.equal(await ask(taking, notice), 'NOERROR 0')
    const [rcode, signature] = await askSigned(taking, notice, { key: 'b.key' })
    assert.equal(rcode, 'NOTAUTH 0')
    assert.match(signature ?? '', /^b\.key\. hmac-sha256\. BADKEY /)
  })

  test('leaves unsigned queries on the fast path unless they must be signed', async () => {
    const tsig = directive('tsig', `secret a.key. ${SECRET}`, 'require SRV')
    const cluster = serve(['. {', tsig, 'kubernetes cluster.local', '}'].join('\n'), {
      cluster: { objects: SERVICE },
    })
    const name = 'web.shop.svc.cluster.local'
    assert.equal(await cluster.isQuick(`${name} A`), true)
    assert.equal(await cluster.isQuick(`${name} A +edns +do`), true)
    assert.equal(await cluster.isQuick(`${name} SRV`), false)
    assert.deepEqual(await askSigned(cluster, { name }), ['NOERROR 1', SIGNED])
  })

  test('asks upstreams without the signature', async () => {
    const tsig = directive('tsig', `secret a.key. ${SECRET}`)
    const forwarding = serve(['. {', tsig, 'forward . 192.0.2.53', '}'].join('\n'), {
      upstream: () => ['NOERROR ra', 'www.example.org. 60 IN A 192.0.2.2'],
    })
    assert.deepEqual(await askSigned(forwarding, www), ['NOERROR 1', SIGNED])
    const [asked] = forwarding.host.asked
    assert.ok(asked !== undefined)
    assert.equal(asked.question, 'www.example.org. IN A')
    assert.equal(asked.message[11], 0)
  })
})
