import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { ConversionError } from '../../../src/operators/convert/conversion.ts'
import { type DnsmasqConfig, readDnsmasq } from '../../../src/operators/convert/dnsmasq-config.ts'

function read(text: string): DnsmasqConfig {
  return readDnsmasq([{ path: 'f', text }])
}

describe('readDnsmasq reads', () => {
  const cases: {
    name: string
    text: string
    config: Partial<Record<keyof DnsmasqConfig, unknown>>
  }[] = [
    {
      name: 'nothing of comments',
      text: '# a\n\n  # b\nno-resolv # c\n',
      config: { single: { 'no-resolv': '' } },
    },
    {
      name: 'options as on a command line, and blanks',
      text: '--port = 5353\n',
      config: { single: { port: '5353' } },
    },
    {
      name: 'servers with ports',
      text: 'server=192.0.2.1\nserver=192.0.2.1#54\nserver=2001:db8::1#54\nserver=/#/192.0.2.2',
      config: { servers: ['192.0.2.1', '192.0.2.1:54', '[2001:db8::1]:54', '192.0.2.2'] },
    },
    {
      name: 'servers of domains',
      text: 'server=/a.test/.b.test/192.0.2.1\nserver=/a.test/192.0.2.2\nlocal=/c/\nserver=/d/#',
      config: {
        domains: new Map<string, unknown>([
          ['a.test', ['192.0.2.1', '192.0.2.2']],
          ['b.test', ['192.0.2.1']],
          ['c', 'none'],
          ['d', 'default'],
        ]),
      },
    },
    {
      name: 'servers of addresses',
      text: 'rev-server=10.0.0.0/8,192.0.2.1\nrev-server=2001:db8::1,192.0.2.2#54',
      config: {
        domains: new Map([
          ['10.0.0.0/8', ['192.0.2.1']],
          ['2001:db8::1/128', ['192.0.2.2:54']],
        ]),
      },
    },
    {
      name: 'addresses of domains',
      text: 'address=/a/b/192.0.2.1\naddress=/a/2001:db8::1\naddress=/c/\naddress=/d/#',
      config: {
        addresses: new Map([
          ['a', ['192.0.2.1', '2001:db8::1']],
          ['b', ['192.0.2.1']],
          ['c', []],
          ['d', ['#']],
        ]),
      },
    },
    {
      name: 'hosts',
      text: 'host-record=a,a.test,192.0.2.1,2001:db8::1,300',
      config: {
        hosts: ['192.0.2.1 a a.test', '2001:db8::1 a a.test'],
        notices: ['f:1: "300" of "host-record" has no effect on the Corefile'],
      },
    },
    {
      name: 'records',
      text:
        'cname=a,b,c.test,60\ntxt-record=d,"x,y",z\nsrv-host=e,f,1,2,3\nmx-host=g,h,5\n' +
        'ptr-record=i,j',
      config: {
        records: [
          { name: 'a', type: 'CNAME', rdata: 'c.test.', ttlSeconds: 60 },
          { name: 'b', type: 'CNAME', rdata: 'c.test.', ttlSeconds: 60 },
          { name: 'd', type: 'TXT', rdata: '"x,y" "z"', ttlSeconds: undefined },
          { name: 'e', type: 'SRV', rdata: '2 3 1 f.', ttlSeconds: undefined },
          { name: 'g', type: 'MX', rdata: '5 h.', ttlSeconds: undefined },
          { name: 'i', type: 'PTR', rdata: 'j.', ttlSeconds: undefined },
        ],
      },
    },
    {
      name: 'where to listen, and files',
      text: 'listen-address=::1,127.0.0.1\ninterface=eth0\naddn-hosts=/h\nresolv-file=/r',
      config: { listen: ['::1', '127.0.0.1', 'eth0'], hostsFiles: ['/h'], resolvFiles: ['/r'] },
    },
    {
      name: 'what has no effect, as a notice',
      text:
        'cache-size=1\ncache-size=2\nserver=\nlocal=#\naddress=192.0.2.1\n' +
        'server=/a/192.0.2.1\nserver=/a/#\nserver=/a/192.0.2.2\n' +
        'srv-host=e,f,1,2,3,4\nmx-host=g,h,5,6\nptr-record=i,j,k\n' +
        'listen-address=\nlocalise-queries',
      config: {
        single: { 'cache-size': '2' },
        domains: new Map([['a', ['192.0.2.2']]]),
        records: [
          { name: 'e', type: 'SRV', rdata: '2 3 1 f.', ttlSeconds: undefined },
          { name: 'g', type: 'MX', rdata: '5 h.', ttlSeconds: undefined },
          { name: 'i', type: 'PTR', rdata: 'j.', ttlSeconds: undefined },
        ],
        notices: [
          'f:1: "cache-size" is set again by f:2; ignored',
          'f:3: "server" names no server; ignored',
          'f:4: "local" names no server; ignored',
          'f:5: "address" names no domain; ignored',
          'f:7: replaces the servers of "a" above',
          'f:8: replaces what "a" has above',
          'f:9: "4" of "srv-host" has no effect on the Corefile',
          'f:10: "6" of "mx-host" has no effect on the Corefile',
          'f:11: "k" of "ptr-record" has no effect on the Corefile',
          'f:12: "listen-address" names nothing; ignored',
          'f:13: "localise-queries" has no equivalent: responses have all addresses',
        ],
      },
    },
    {
      name: 'what has no equal, as a notice',
      text: 'user=nobody\ndhcp-range=x\nx\nconf-dir=/d\nmx-host=a\nsrv-host=b',
      config: {
        notices: [
          'f:1: "user" has no effect on the Corefile: it is for dnsmasq itself',
          'f:2: "dhcp-range" configures DHCP or TFTP; ignored',
          'f:3: "x" has no equivalent; ignored',
          'f:4: "conf-dir" has no equivalent: add the files of the folder to the command line',
          'f:5: an MX record without a host has no equivalent; ignored',
          'f:6: an SRV record without a target has no equivalent; ignored',
        ],
      },
    },
  ]
  for (const { name, text, config } of cases) {
    test(name, () => {
      const plain = ({ single, ...rest }: DnsmasqConfig) => {
        return { ...rest, single: Object.fromEntries(single.all()) }
      }
      assert.deepEqual(plain(read(text)), { ...plain(read('')), ...config })
    })
  }
})

describe('readDnsmasq refuses', () => {
  const cases: { text: string; message: string | RegExp }[] = [
    { text: '\n=x', message: 'f:2: "=x" is not an option of dnsmasq' },
    { text: 'server=a', message: 'f:1: "a" is not ADDRESS[#PORT]' },
    { text: 'address=/a/b', message: 'f:1: "b" is not an address' },
    { text: 'rev-server=x,y', message: 'f:1: "rev-server" is not ADDRESS[/BITS],SERVER' },
    { text: 'host-record=a', message: 'f:1: "host-record" is not NAME,ADDRESS' },
    { text: 'cname=a', message: 'f:1: "cname" is not ALIAS,TARGET' },
    {
      text: 'cache-size=many',
      message: 'f:1: "cache-size" is "many", expected a number up to 10000000',
    },
    { text: 'server=192.0.2.1#a', message: 'f:1: "192.0.2.1#a" is not ADDRESS[#PORT]' },
    {
      text: 'srv-host=_a._tcp.b.test,c.test,port',
      message: 'f:1: the port of a SRV record is "port", expected a number from 0 to 65535',
    },
    {
      text: 'mx-host=a..b,c.test',
      message: 'f:1: "a..b" is not a domain name',
    },
    {
      text: `txt-record=a,${'x'.repeat(70_000)}`,
      message: /^f:1: the text of a TXT record is "x/,
    },
    {
      text: 'port=0',
      message: 'f:1: port 0 turns DNS off; nothing to convert',
    },
  ]
  for (const { text, message } of cases) {
    test(JSON.stringify(text), () => {
      assert.throws(() => read(text), { name: 'ConversionError', message })
    })
  }

  test('other text with a ConversionError', () => {
    const option = fc.constantFrom(
      'server',
      'address',
      'host-record',
      'cname',
      'txt-record',
      'mx-host',
    )
    const value = fc.stringMatching(/^[a-c/#@,".:0-9]*$/)
    fc.assert(
      fc.property(
        fc.oneof(fc.tuple(option, value), fc.tuple(fc.string(), fc.string())),
        (parts) => {
          try {
            read(parts.join('='))
          } catch (error) {
            assert.ok(error instanceof ConversionError, String(error))
          }
        },
      ),
      { numRuns: 1000 },
    )
  })
})
