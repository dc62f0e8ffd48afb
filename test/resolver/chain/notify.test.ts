import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../src/dns/names/name.ts'
import { OPCODE } from '../../../src/dns/names/rcode.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { writeQuery } from '../../../src/dns/wire/write-query.ts'
import { answerNotify } from '../../../src/resolver/chain/notify.ts'
import { block, directive, serve } from '../../ask.ts'
import { formatReply } from '../../message-text.ts'

const client = { address: '192.0.2.1', port: 4242, transport: 'udp' } as const

function message(opcode: number, udpBytes?: number): Uint8Array {
  const edns = udpBytes === undefined ? {} : { udpBytes }
  return writeQuery({ name: nameOf('Example.org'), type: TYPE.SOA, flags: opcode << 11, ...edns })
}

function answer(corefile: string, bytes: Uint8Array): string[] | undefined {
  const { resolver } = serve(corefile)
  const [listener] = resolver.listeners
  const found = listener && answerNotify(listener, bytes, client)
  resolver.stop()
  return found && (found.reply === undefined ? [] : formatReply(found.reply))
}

describe('a notice', () => {
  const from = (address: string): string =>
    block(directive('secondary example.org', `transfer from ${address}`))
  const cases: { name: string; corefile: string; bytes: Uint8Array; is: string[] | undefined }[] = [
    {
      name: 'is answered by the plugin that has the zone from there',
      corefile: from('192.0.2.1'),
      bytes: message(OPCODE.NOTIFY),
      is: ['NOERROR aa'],
    },
    {
      name: 'is answered with an OPT record when it has one',
      corefile: from('192.0.2.1'),
      bytes: message(OPCODE.NOTIFY, 1232),
      is: ['NOERROR aa', 'edns: 1232'],
    },
    {
      name: 'of others is not answered',
      corefile: from('192.0.2.2'),
      bytes: message(OPCODE.NOTIFY),
      is: [],
    },
    {
      name: 'is refused where it must be signed and is not',
      corefile: block(
        directive('tsig', 'require_opcode NOTIFY'),
        directive('secondary example.org', 'transfer from 192.0.2.1'),
      ),
      bytes: message(OPCODE.NOTIFY),
      is: ['REFUSED'],
    },
    {
      name: 'is for nobody without such a zone',
      corefile: block('whoami'),
      bytes: message(OPCODE.NOTIFY),
      is: undefined,
    },
    {
      name: 'is for nobody without a block',
      corefile: 'example.net {\n whoami\n}',
      bytes: message(OPCODE.NOTIFY),
      is: undefined,
    },
    {
      name: 'is no other operation',
      corefile: from('192.0.2.1'),
      bytes: message(OPCODE.UPDATE),
      is: undefined,
    },
    {
      name: 'is not malformed',
      corefile: from('192.0.2.1'),
      bytes: message(OPCODE.NOTIFY).subarray(0, 14),
      is: undefined,
    },
  ]
  for (const { name, corefile, bytes, is } of cases) {
    test(name, () => {
      assert.deepEqual(answer(corefile, bytes), is)
    })
  }
})
