import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { convertSkydns } from '../../../src/operators/convert/skydns.ts'

function linesOf(...texts: readonly string[]): string[] {
  return convertSkydns(texts)
    .corefile.split('\n')
    .map((line) => line.trim())
}

describe('convertSkydns', () => {
  const cases: { name: string; text: string; lines: readonly string[] }[] = [
    {
      name: 'has the defaults of SkyDNS',
      text: '{}',
      lines: [
        '.:53 {',
        'bind 127.0.0.1',
        'loadbalance',
        'etcd skydns.local {',
        'path /skydns',
        'endpoint http://127.0.0.1:2379',
        'forward . /etc/resolv.conf {',
        'policy round_robin',
      ],
    },
    {
      name: 'reads flags with and without "="',
      text: 'skydns -addr=[::]:5353 --domain a.test -ns-rotate=false',
      lines: ['.:5353 {', 'etcd a.test {', 'policy sequential'],
    },
    {
      name: 'reads variables in quotes',
      text: 'export SKYDNS_DOMAIN="a.test."\nSKYDNS_PATH_PREFIX=x # as it was\n',
      lines: ['etcd a.test {', 'path /x'],
    },
    {
      name: 'authenticates',
      text: 'ETCD_CACERT=ca ETCD_USERNAME=u ETCD_PASSWORD=p',
      lines: ['tls ca', 'credentials u p'],
    },
  ]
  for (const { name, text, lines } of cases) {
    test(name, () => {
      const written = linesOf(text)
      for (const line of lines) assert.ok(written.includes(line), `${line}\n${written.join('\n')}`)
    })
  }

  test('uses the last of several values', () => {
    assert.ok(linesOf('SKYDNS_DOMAIN=a.test', '{"domain":"b.test"}').includes('etcd b.test {'))
  })

  test('adds notices for options without an equivalent and unknown ones', () => {
    assert.deepEqual(convertSkydns(['-domain=a.test -ttl=5 -frobnicate']).notices.slice(1), [
      '"ttl" has no equivalent: records without their own TTL have 300 s',
      '"frobnicate" has no effect on the Corefile',
    ])
  })

  const dropped: { texts: readonly string[]; notices: readonly string[] }[] = [
    {
      texts: ['ETCD_PASSWORD=p -rcache-ttl=5 -tls-key=k -nodaemon'],
      notices: ['rcache-ttl', 'tls-key', 'password', 'nodaemon'],
    },
    {
      texts: ['{"no_rec":true,"nameservers":["192.0.2.1:53"],"ns_rotate":true,"new":{"a":1}}'],
      notices: [
        '"no-rec": names outside "skydns.local" get REFUSED',
        'nameservers',
        'ns-rotate',
        'new',
      ],
    },
    {
      texts: ['skydns -domain=a.test stray', '{"domain":"b.test"}'],
      notices: ['"domain" is set again; the earlier value is ignored', 'stray'],
    },
  ]
  for (const { texts, notices } of dropped) {
    test(`names what it drops of ${texts.join(' ')}`, () => {
      const found = convertSkydns(texts).notices.slice(1)
      const effect = (name: string): string =>
        name.includes(' ') ? name : `"${name}" has no effect on the Corefile`
      assert.deepEqual([...found].sort(), notices.map(effect).sort())
    })
  }

  const wrong: { text: string; message: string | RegExp }[] = [
    { text: '', message: /^expected JSON such as/ },
    { text: 'domain: a.test', message: /^expected JSON such as/ },
    { text: '{"domain"', message: 'the file starts like JSON but is invalid' },
    { text: '-addr=localhost', message: 'addr "localhost" is not IP:PORT' },
  ]
  for (const { text, message } of wrong) {
    test(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => linesOf(text), { name: 'ConversionError', message })
    })
  }
})
