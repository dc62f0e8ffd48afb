import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { block, directive, problemsOf, type Server, serve } from '../../../ask.ts'
import { differentialDatabase, writeMmdb } from './write-mmdb.ts'

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')
const FILES = {
  'city.mmdb': latin1(differentialDatabase()),
  'asn.mmdb': latin1(
    writeMmdb(
      { type: 'GeoLite2-ASN', recordBits: 32, ipVersion: 4 },
      { '192.0.2.0/24': { autonomous_system_number: 64496 } },
    ),
  ),
  'other.mmdb': latin1(
    writeMmdb({ type: 'GeoIP2-Domain', recordBits: 24, ipVersion: 4 }, { '0.0.0.0/1': '' }),
  ),
  'text.mmdb': 'no database',
}

/** A server that answers with what a label stands for. */
function serveLabel(label: string, ...geoip: readonly string[]): Server {
  const answer = `answer "{{ .Name }} 60 IN TXT \\"{{ .Meta \\"${label}\\" }}\\""`
  return serve(block('metadata', ...geoip, directive('template IN TXT', answer)), { files: FILES })
}

describe('geoip warns', () => {
  const subnet = directive('geoip city.mmdb', 'edns-subnet')
  const cases: {
    name: string
    label?: string
    geoip?: string
    words: string
    value: string
  }[] = [
    { name: 'of the client', words: '+from=127.0.4.77', value: 'Farville' },
    { name: 'of a client by IPv6, on whatever link', words: '+from=::1%lo', value: 'Sixford' },
    { name: 'nothing of a missing address', words: '+from=192.0.2.1', value: '' },
    {
      name: 'numbers as they are',
      label: 'geoip/longitude',
      words: '+from=127.0.0.9',
      value: '-0.1431',
    },
    {
      name: 'of autonomous systems',
      label: 'geoip/asn/number',
      geoip: 'geoip asn.mmdb',
      words: '+from=192.0.2.7',
      value: '64496',
    },
    {
      name: 'of the client, whomever it requests',
      words: '+from=127.0.4.77 +option=8:000120007f000009',
      value: 'Farville',
    },
    {
      name: 'of the subnet that it requests, where that counts',
      geoip: subnet,
      words: '+from=192.0.2.1 +option=8:000120007f000009',
      value: 'Exampleton',
    },
    {
      name: 'of a subnet whose last bytes are left out',
      geoip: subnet,
      words: '+from=192.0.2.1 +option=8:000118007f0004',
      value: 'Farville',
    },
    {
      name: 'of a subnet by IPv6',
      geoip: subnet,
      words: '+from=192.0.2.1 +option=8:0002800000000000000000000000000000000001',
      value: 'Sixford',
    },
    {
      name: 'of a client that sends no subnet',
      geoip: subnet,
      words: '+from=127.0.4.77 +edns',
      value: 'Farville',
    },
  ]
  for (const {
    name,
    label = 'geoip/city/name',
    geoip = 'geoip city.mmdb',
    words,
    value,
  } of cases) {
    test(name, async () => {
      const [, answer] = await serveLabel(label, geoip).ask(`a.test TXT ${words}`)
      assert.equal(answer, `a.test. 60 IN TXT "${value}"`)
    })
  }
})

describe('geoip refuses', () => {
  const cases: { name: string; lines: readonly string[]; problem: string }[] = [
    { name: 'nothing', lines: ['geoip'], problem: '2:3: "geoip" needs the path of a database' },
    {
      name: 'a missing file',
      lines: ['geoip none.mmdb'],
      problem: '2:9: cannot read "none.mmdb"',
    },
    {
      name: 'a file that is no database',
      lines: ['geoip text.mmdb'],
      problem: '2:9: "text.mmdb" is not a MaxMind database: its metadata is unreadable',
    },
    {
      name: 'a database of something else',
      lines: ['geoip other.mmdb'],
      problem: '2:9: "other.mmdb" is a "GeoIP2-Domain"; use a city or ASN database',
    },
    {
      name: 'several databases',
      lines: ['geoip city.mmdb', 'geoip asn.mmdb'],
      problem: '3:3: "geoip" appears twice in this server block; remove one',
    },
    {
      name: 'other options',
      lines: [directive('geoip city.mmdb', 'edns')],
      problem: '3:5: "geoip" has no option "edns"; it has edns-subnet',
    },
  ]
  for (const { name, lines, problem } of cases) {
    test(name, () => {
      assert.deepEqual(problemsOf(block(...lines), { files: FILES }), [`Corefile:${problem}`])
    })
  }
})

test('the database of the comparison with CoreDNS is the one that is written here', () => {
  const path = join(import.meta.dirname, '../../../differential/places/geoip/city.mmdb')
  assert.deepEqual(new Uint8Array(readFileSync(path)), differentialDatabase())
})
