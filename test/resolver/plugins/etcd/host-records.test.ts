import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { mailHosts, serverHosts } from '../../../../src/resolver/plugins/etcd/records.ts'
import { formatRecord } from '../../../../src/snapshot/records/zone-text.ts'
import { serviceOf } from './service-of.ts'

const NAME = nameOf('web.example.org')

describe('serverHosts', () => {
  test('has a host once for each port, and its address once', () => {
    const stripped = { host: '192.0.2.1', targetstrip: 1 }
    const records = serverHosts(NAME, [
      serviceOf({ ...stripped, port: 1 }, '/skydns/org/example/web/a'),
      serviceOf({ ...stripped, port: 1 }, '/skydns/org/example/web/b'),
      serviceOf({ ...stripped, port: 2 }, '/skydns/org/example/web/c'),
    ])
    assert.deepEqual(
      records.flatMap(({ record }) => (record ? [formatRecord(record)] : [])),
      [
        'web.example.org. 0 IN SRV 10 33 1 web.example.org.',
        'web.example.org. 0 IN SRV 10 33 2 web.example.org.',
      ],
    )
    assert.deepEqual(
      records.flatMap(({ address }) => (address ? [formatRecord(address)] : [])),
      ['web.example.org. 0 IN A 192.0.2.1'],
    )
  })

  test('leaves out a service with port -1, whose weight counts all the same', () => {
    const records = serverHosts(NAME, [
      serviceOf({ host: 'a.example.net', port: -1 }),
      serviceOf({ host: 'b.example.net' }),
    ])
    assert.deepEqual(
      records.flatMap(({ record }) => (record ? [formatRecord(record)] : [])),
      ['web.example.org. 0 IN SRV 10 50 0 b.example.net.'],
    )
  })

  test('takes labels off a host that is a name, and leaves it to be looked up', () => {
    const [first] = serverHosts(NAME, [serviceOf({ host: 'a.b.example.net', targetstrip: 1 })])
    assert.deepEqual(first?.target, nameOf('b.example.net'))
  })

  test('makes nothing of texts, and of addresses whose key is no name', () => {
    const long = `/skydns/org/${'x'.repeat(64)}`
    const services = [
      serviceOf({ host: 'a.example.net', text: 'text' }),
      serviceOf({ host: '192.0.2.1' }, long),
    ]
    assert.deepEqual(serverHosts(NAME, services), [])
  })
})

describe('mailHosts', () => {
  test('has a host once for each preference', () => {
    const mail = { host: '192.0.2.1', mail: true, targetstrip: 1 }
    const records = mailHosts(NAME, [
      serviceOf(mail, '/skydns/org/example/web/a'),
      serviceOf(mail, '/skydns/org/example/web/b'),
      serviceOf({ ...mail, priority: 70_000 }, '/skydns/org/example/web/c'),
    ])
    assert.deepEqual(
      records.flatMap(({ record }) => (record ? [formatRecord(record)] : [])),
      [
        'web.example.org. 0 IN MX 10 web.example.org.',
        'web.example.org. 0 IN MX 4464 web.example.org.',
      ],
    )
  })
})
