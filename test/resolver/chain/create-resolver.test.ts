import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatName } from '../../../src/dns/names/name.ts'
import { createResolver } from '../../../src/resolver/chain/create-resolver.ts'
import type { Listener } from '../../../src/resolver/chain/listener.ts'
import { STANDARD_PORTS } from '../../../src/resolver/contract/server-address.ts'
import { block, directive, problemsOf, serve } from '../../ask.ts'
import { FakeHost } from '../../fake-host.ts'

function describeListener(listener: Listener): string {
  const { transport, port, addresses, except, zones } = listener
  const where = addresses.length === 0 ? '*' : addresses.join(',')
  const without = except.length === 0 ? '' : ` except ${except.join(',')}`
  const names = zones.map(({ zone }) => formatName(zone)).join(' ')
  return `${transport} ${where}:${port}${without} ${names}`
}

describe('listeners', () => {
  const cases: { name: string; corefile: string; listeners: string[] }[] = [
    {
      name: 'puts zones without a port on the standard one, the longest first',
      corefile: 'example.org sub.example.org {\n whoami\n}',
      listeners: ['dns *:53 sub.example.org. example.org.'],
    },
    {
      name: 'shares a port among server blocks',
      corefile: 'example.org {\n whoami\n}\nexample.net {\n whoami\n}',
      listeners: ['dns *:53 example.org. example.net.'],
    },
    {
      name: 'opens a port for each one that is named',
      corefile: 'example.org:5300 example.org:5301 {\n whoami\n}',
      listeners: ['dns *:5300 example.org.', 'dns *:5301 example.org.'],
    },
    {
      name: 'knows the ports of the other transports',
      corefile: 'tls://. https://. {\n whoami\n}',
      listeners: ['tls *:853 .', 'https *:443 .'],
    },
    {
      name: 'keeps transports apart that share a port number',
      corefile: 'tls://.:5300 https://.:5300 {\n whoami\n}',
      listeners: ['tls *:5300 .', 'https *:5300 .'],
    },
    {
      name: 'binds to the addresses of a block',
      corefile: block('bind 192.0.2.1 2001:db8::1', 'whoami'),
      listeners: ['dns 192.0.2.1:53 .', 'dns 2001:db8::1:53 .'],
    },
    {
      name: 'leaves out the addresses that are excepted',
      corefile: block(directive('bind eth0', 'except 192.0.2.9'), 'whoami'),
      listeners: ['dns eth0:53 except 192.0.2.9 .'],
    },
    {
      name: 'serves one zone twice on different addresses',
      corefile: '. {\n bind 192.0.2.1\n}\n. {\n bind 192.0.2.2\n}',
      listeners: ['dns 192.0.2.1:53 .', 'dns 192.0.2.2:53 .'],
    },
    {
      name: 'serves each byte zone of a block of addresses',
      corefile: '192.0.2.0/23 {\n whoami\n}',
      listeners: ['dns *:53 2.0.192.in-addr.arpa. 3.0.192.in-addr.arpa.'],
    },
  ]
  for (const { name, corefile, listeners } of cases) {
    test(name, () => {
      assert.deepEqual(serve(corefile).resolver.listeners.map(describeListener), listeners)
    })
  }

  test('takes other ports for blocks that name none', () => {
    const blocks = [
      {
        file: 'Corefile',
        line: 1,
        column: 1,
        directives: [],
        keys: (['dns', 'tls'] as const).map((transport) => ({
          file: 'Corefile',
          line: 1,
          column: 1,
          transport,
          zone: Uint8Array.of(0),
          port: transport === 'tls' ? 8853 : undefined,
        })),
      },
    ]
    const resolver = createResolver(blocks, new FakeHost(), { ...STANDARD_PORTS, dns: 5353 })
    assert.deepEqual(resolver.listeners.map(describeListener), ['dns *:5353 .', 'tls *:8853 .'])
  })

  test('takes queries of any class on a port where one block forwards', () => {
    const corefile =
      'example.org {\n forward . 192.0.2.53\n}\n. {\n whoami\n}\n.:5300 {\n whoami\n}'
    const { listeners } = serve(corefile).resolver
    assert.deepEqual(
      listeners.map(({ port, takesAnyClass }) => [port, takesAnyClass]),
      [
        [53, true],
        [5300, false],
      ],
    )
  })

  test('answers each port from its own blocks', async () => {
    const server = serve(
      `example.org:5300 {
        hosts none {
          192.0.2.1 www.example.org
        }
      }
      example.org:5301 {
        hosts none {
          192.0.2.2 www.example.org
        }
      }`,
    )
    assert.deepEqual(await server.ask('www.example.org A +port=5300'), [
      'NOERROR aa rd',
      'www.example.org. 3600 IN A 192.0.2.1',
    ])
    assert.deepEqual(await server.ask('www.example.org A +port=5301'), [
      'NOERROR aa rd',
      'www.example.org. 3600 IN A 192.0.2.2',
    ])
  })
})

describe('what is wrong with server blocks', () => {
  const cases: { name: string; corefile: string; problems: string[] }[] = [
    {
      name: 'refuses a zone twice on one port',
      corefile: 'example.org {\n whoami\n}\nexample.net EXAMPLE.org {\n whoami\n}',
      problems: ['Corefile:4:13: zone "example.org." is served at port 53 already (line 1)'],
    },
    {
      name: 'refuses a zone twice within one block',
      corefile: 'example.org example.org:53 {\n whoami\n}',
      problems: ['Corefile:1:13: zone "example.org." is served at port 53 already (line 1)'],
    },
    {
      name: 'names each zone that is served already',
      corefile: 'a b {\n whoami\n}\nb a {\n whoami\n}',
      problems: [
        'Corefile:4:1: zone "b." is served at port 53 already (line 1)',
        'Corefile:4:3: zone "a." is served at port 53 already (line 1)',
      ],
    },
    {
      name: 'refuses a zone on some addresses that is served on all, as CoreDNS does',
      corefile: 'a {\n whoami\n}\na {\n bind 192.0.2.1\n whoami\n}',
      problems: [
        'Corefile:4:1: zone "a." is served at port 53 already, on addresses that overlap with ' +
          'these (line 1)',
      ],
    },
    {
      name: 'refuses a zone on all addresses that is served on some',
      corefile: 'a {\n bind 192.0.2.1\n whoami\n}\na {\n whoami\n}',
      problems: [
        'Corefile:5:1: zone "a." is served at port 53 already, on addresses that overlap with ' +
          'these (line 1)',
      ],
    },
    {
      name: 'refuses a zone on one address that is served on that and another',
      corefile: 'a {\n bind 192.0.2.1 192.0.2.2\n whoami\n}\na {\n bind 192.0.2.2\n whoami\n}',
      problems: ['Corefile:5:1: zone "a." is served at port 53 already (line 1)'],
    },
    {
      name: 'reports everything that is wrong in all blocks at once',
      corefile: 'example.org {\n cache 0\n whoami x\n}\nexample.net {\n bufsize 9\n}',
      problems: [
        'Corefile:2:8: "0" is not a number from 1 to 4294967295',
        'Corefile:3:9: "whoami" takes no arguments, got "x"',
        'Corefile:6:10: "9" is not a number from 512 to 4096',
      ],
    },
  ]
  for (const { name, corefile, problems } of cases) {
    test(name, () => {
      assert.deepEqual(problemsOf(corefile), problems)
    })
  }

  test('stops after a hundred problems, in one block or in many', () => {
    const wrong = 'erors\n'.repeat(200_000)
    assert.equal(problemsOf(`. {\n${wrong}}`).length, 100)
    const blocks = Array.from({ length: 20_000 }, (_, i) => `a${i} {\n  erors\n}`)
    assert.equal(problemsOf(blocks.join('\n')).length, 100)
  })
})
