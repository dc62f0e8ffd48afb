import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatName } from '../../../src/dns/names/name.ts'
import { CLASS } from '../../../src/dns/names/rr-class.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { FLAG, parseQuery, type Query } from '../../../src/dns/wire/query.ts'
import { HttpError } from '../../../src/gateway/doh/http-error.ts'
import { parseJsonQuery } from '../../../src/gateway/doh/json-query.ts'
import { wireName } from '../../generators.ts'
import { anyText } from './replies.ts'

function queryOf(parameters: URLSearchParams): Query {
  const query = parseQuery(parseJsonQuery(parameters).message)
  if (query.kind === 'refusal') throw new TypeError('The gate refuses our own query')
  return query
}

const nameText = (query: Query): string => formatName(query.bytes, 12)

describe('parseJsonQuery, names', () => {
  const label = 'a'.repeat(63)
  const name253 = [label, label, label, 'a'.repeat(61)].join('.')
  const cases: { text: string; name: string }[] = [
    { text: 'a.example.org', name: 'a.example.org.' },
    { text: 'a.example.org.', name: 'a.example.org.' },
    { text: 'A.Example.ORG', name: 'A.Example.ORG.' },
    { text: '.', name: '.' },
    { text: 'a\\.b.example.org', name: 'a\\.b.example.org.' },
    { text: '\\097.example.org', name: 'a.example.org.' },
    { text: 'xn--bcher-kva.example.org', name: 'xn--bcher-kva.example.org.' },
    { text: '_dns._tcp.example.org', name: '_dns._tcp.example.org.' },
    { text: 'constructor.__proto__', name: 'constructor.__proto__.' },
    { text: name253, name: `${name253}.` },
  ]
  for (const { text, name } of cases) {
    test(`asks for "${text}"`, () => {
      assert.equal(nameText(queryOf(new URLSearchParams({ name: text }))), name)
    })
  }

  test('asks for any name that is spelled with escapes', () => {
    fc.assert(
      fc.property(wireName(), (wire) => {
        const parameters = new URLSearchParams({ name: formatName(wire) })
        assert.equal(nameText(queryOf(parameters)), formatName(wire))
      }),
    )
  })
})

describe('parseJsonQuery, types', () => {
  const cases: { type: string; value: number }[] = [
    { type: '', value: TYPE.A },
    { type: 'A', value: TYPE.A },
    { type: 'aaaa', value: TYPE.AAAA },
    { type: 'HTTPS', value: TYPE.HTTPS },
    { type: 'TYPE65', value: 65 },
    { type: '65', value: 65 },
    { type: '1', value: 1 },
    { type: '65535', value: 65_535 },
    { type: '00001', value: 1 },
    { type: 'ANY', value: 255 },
  ]
  for (const { type, value } of cases) {
    test(`reads "${type}" as ${value}`, () => {
      assert.equal(queryOf(new URLSearchParams({ name: 'a', type })).type, value)
    })
  }

  test('asks for A when there is none, in class IN', () => {
    const query = queryOf(new URLSearchParams({ name: 'a' }))
    assert.deepEqual([query.type, query.class], [TYPE.A, CLASS.IN])
  })
})

describe('parseJsonQuery, flags', () => {
  const cases: { text: string; isCd: boolean; isDo: boolean }[] = [
    { text: '', isCd: false, isDo: false },
    { text: 'cd=1', isCd: true, isDo: false },
    { text: 'cd=true', isCd: true, isDo: false },
    { text: 'cd=', isCd: true, isDo: false },
    { text: 'cd', isCd: true, isDo: false },
    { text: 'cd=0', isCd: false, isDo: false },
    { text: 'cd=false', isCd: false, isDo: false },
    { text: 'do=1', isCd: false, isDo: true },
    { text: 'do=false', isCd: false, isDo: false },
    { text: 'do=1&cd=1', isCd: true, isDo: true },
    { text: 'do=0&do=1', isCd: false, isDo: false },
    { text: 'DO=1&random_padding=xyz', isCd: false, isDo: false },
  ]
  for (const { text, isCd, isDo } of cases) {
    test(`reads "${text}"`, () => {
      const query = queryOf(new URLSearchParams(`name=a&${text}`))
      assert.equal((query.flags & FLAG.CD) !== 0, isCd)
      assert.equal(query.wantsDnssec, isDo)
      assert.equal(query.flags & ~FLAG.CD, FLAG.RD)
      assert.ok(query.hasEdns)
    })
  }

  for (const text of ['', 'name=', 'Name=a']) {
    test(`misses a name in "${text}"`, () => {
      assert.throws(() => parseJsonQuery(new URLSearchParams(text)), {
        message: 'Parameter "name" is missing',
      })
    })
  }

  test('takes the first name', () => {
    assert.equal(nameText(queryOf(new URLSearchParams('name=a&name=b'))), 'a.')
  })
})

describe('parseJsonQuery, form', () => {
  const cases: { ct: string; form: string | undefined }[] = [
    { ct: 'application/dns-message', form: 'wire' },
    { ct: 'Application/DNS-Message; x=y', form: 'wire' },
    { ct: 'application/dns-json', form: 'json' },
    { ct: 'application/x-javascript', form: 'json' },
    { ct: 'text/html', form: undefined },
    { ct: '', form: undefined },
  ]
  for (const { ct, form } of cases) {
    test(`reads ct "${ct}" as ${form}`, () => {
      assert.equal(parseJsonQuery(new URLSearchParams({ name: 'a', ct })).form, form)
    })
  }
})

describe('parseJsonQuery, what it refuses', () => {
  const cases: { parameter: string; values: readonly string[] }[] = [
    {
      parameter: 'name',
      values: ['', '.example.org', 'example..org', '..', 'bücher.example.org', 'a\\', '\\256']
        .concat(`${'a'.repeat(64)}.org`)
        .concat('a.'.repeat(128)),
    },
    {
      parameter: 'type',
      values: ['0', '65536', '-1', '1e1', '0x1', '1.0', ' 1', 'constructor', 'TYPE65536', 'TYPE0']
        .concat('BOGUS')
        .concat('000001'),
    },
    { parameter: 'do', values: ['yes', '2', 'TRUE', ' '] },
    { parameter: 'cd', values: ['yes', '2', 'on'] },
    {
      parameter: 'edns_client_subnet',
      values: [
        '192.0.2.0/33',
        '2001:db8::/129',
        '/24',
        '192.0.2/24',
        'ab',
        '1234567',
        '....',
        '::/',
      ]
        .concat('192.0.2.0/-1')
        .concat('192.0.2.0/24/24')
        .concat('192.0.2.256')
        .concat('example.org'),
    },
  ]
  for (const { parameter, values } of cases) {
    for (const value of values) {
      test(`${parameter} "${value.slice(0, 20)}"`, () => {
        const parameters = new URLSearchParams({ name: 'a', [parameter]: value })
        assert.throws(
          () => parseJsonQuery(parameters),
          (error) =>
            error instanceof HttpError &&
            error.status === 400 &&
            error.message.startsWith(`Parameter "${parameter}" is `),
        )
      })
    }
  }

  test('throws nothing but that, whatever the parameters', () => {
    const keys = fc.constantFrom('name', 'type', 'do', 'cd', 'ct', 'edns_client_subnet')
    const pairs = fc.array(fc.tuple(keys, anyText()), { maxLength: 6 })
    fc.assert(
      fc.property(pairs, (all) => {
        try {
          queryOf(new URLSearchParams(all))
        } catch (error) {
          assert.ok(error instanceof HttpError, String(error))
          assert.equal(error.status, 400)
        }
      }),
    )
  })
})

describe('parseJsonQuery, subnets', () => {
  const cases = ['0.0.0.0/0', '192.0.2.0/24', '192.0.2.1', '2001:db8::/56', '::/0', '2001:db8::1']
  for (const subnet of [...cases, '']) {
    test(`takes "${subnet}" and sends it nowhere`, () => {
      const parameters = new URLSearchParams({ name: 'a', edns_client_subnet: subnet })
      assert.deepEqual(
        parseJsonQuery(parameters),
        parseJsonQuery(new URLSearchParams({ name: 'a' })),
      )
    })
  }
})
