import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { concatBytes, formatHex, writeUint16 } from '../../../../src/dns/bytes/bytes.ts'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { writeQuery } from '../../../../src/dns/wire/write-query.ts'
import { block, directive, type Server, serve } from '../../../ask.ts'
import { hex } from '../../../dns/wire/messages.ts'
import { GENERATION } from '../../../fake-cluster.ts'
import { formatReply } from '../../../message-text.ts'

const CLUSTER = {
  objects: `
- { apiVersion: v1, kind: Namespace, metadata: { name: shop } }
- apiVersion: v1
  kind: Service
  metadata: { name: web, namespace: shop }
  spec: { clusterIP: 192.0.2.1, clusterIPs: [192.0.2.1], ports: [{ name: http, port: 80 }] }`,
}
const soa = (zone: string): string =>
  `${zone} 5 IN SOA ns.dns.${zone} hostmaster.${zone} ${GENERATION} 7200 1800 86400 5`

function withTransfer(head = 'kubernetes cluster.local'): Server {
  return serve(block(directive('transfer', 'to *'), head), { cluster: CLUSTER })
}

describe('a transfer of a cluster', () => {
  const all = (zone: string): string[] => [
    'NOERROR aa rd',
    soa(zone),
    `web.shop.svc.${zone} 5 IN A 192.0.2.1`,
    `web.shop.svc.${zone} 5 IN SRV 0 100 80 web.shop.svc.${zone}`,
    `_http._tcp.web.shop.svc.${zone} 5 IN SRV 0 100 80 web.shop.svc.${zone}`,
    soa(zone),
  ]
  const cases: { name: string; head?: string; ask: string; replies: string[] }[] = [
    { name: 'has its Services', ask: 'cluster.local AXFR +tcp', replies: all('cluster.local.') },
    {
      name: 'has them below any name within the zone',
      ask: 'svc.cluster.local AXFR +tcp',
      replies: all('svc.cluster.local.'),
    },
    { name: 'is refused over UDP', ask: 'cluster.local AXFR', replies: ['REFUSED rd'] },
    {
      name: 'is refused outside of the zone',
      ask: 'example.org AXFR +tcp',
      replies: ['SERVFAIL rd'],
    },
    {
      name: 'is refused for names as in OpenShift 3',
      head: directive('kubernetes cluster.local', 'naming openshift3'),
      ask: 'cluster.local AXFR +tcp',
      replies: ['REFUSED rd'],
    },
  ]
  for (const { name, head, ask, replies } of cases) {
    test(name, async () => {
      assert.deepEqual(await withTransfer(head).ask(ask), replies)
    })
  }

  test('is refused without the directive', async () => {
    const server = serve(block('kubernetes cluster.local'), { cluster: CLUSTER })
    assert.deepEqual(await server.ask('cluster.local AXFR +tcp'), ['REFUSED rd'])
  })

  test('is refused before the cluster is read', async () => {
    const server = serve(block(directive('transfer', 'to *'), 'kubernetes cluster.local'), {
      cluster: { ...CLUSTER, presence: 'never' },
    })
    assert.deepEqual(await server.ask('cluster.local AXFR +tcp'), ['REFUSED rd'])
  })

  test('is the SOA record alone for a client that has that serial', async () => {
    const serial = new Uint8Array(4)
    writeUint16(serial, 0, GENERATION >>> 16)
    writeUint16(serial, 2, GENERATION & 0xffff)
    const record = `c00c 0006 0001 00000000 0016 00 00 ${formatHex(serial)} ${'00000001'.repeat(4)}`
    const question = writeQuery({ name: nameOf('cluster.local'), type: TYPE.IXFR })
    const message = concatBytes(question, hex(record))
    writeUint16(message, 8, 1)
    const client = { address: '198.51.100.7', port: 4242, transport: 'tcp' } as const
    const reply = await withTransfer().answer(message, client)
    assert.deepEqual(formatReply(reply ?? assert.fail()), ['NOERROR rd', soa('cluster.local.')])
  })
})
