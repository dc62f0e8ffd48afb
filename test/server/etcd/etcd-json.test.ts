import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  bytesOf,
  parseError,
  parseKeyRange,
  parseTimeToLive,
  parseToken,
  parseWatchMessage,
  toBase64,
  type WatchMessage,
} from '../../../src/server/etcd/etcd-json.ts'

const HEADER = { cluster_id: '7', revision: '12' }

test('bytes are characters, and go as base64', () => {
  assert.equal(toBase64('/a\xff\0'), 'L2H/AA==')
  assert.equal(bytesOf('ü'), '\xc3\xbc')
})

test('parseRange reads a page', () => {
  const kvs = [
    { key: 'L2E=', value: 'w7w=', lease: '5', mod_revision: '3' },
    { key: 'L2I=', lease: '0' },
  ]
  assert.deepEqual(parseKeyRange({ header: HEADER, kvs, more: true, count: '9' }), {
    revision: 12,
    cluster: '7',
    keys: [
      { key: '/a', value: 'ü', lease: '5' },
      { key: '/b', value: '', lease: '' },
    ],
    hasMore: true,
  })
  const empty = { revision: 12, cluster: '7', keys: [], hasMore: false }
  assert.deepEqual(parseKeyRange({ header: HEADER }), empty)
})

describe('parseWatchMessage', () => {
  const put = { kv: { key: 'L2E=', value: 'MQ==', mod_revision: '14' } }
  const gone = { type: 'DELETE', kv: { key: 'L2I=', mod_revision: '13' } }
  const cases: { name: string; value: unknown; message: WatchMessage }[] = [
    {
      name: 'reads that a watch begins',
      value: { result: { header: HEADER, created: true } },
      message: { kind: 'created', revision: 12, cluster: '7' },
    },
    {
      name: 'reads changes, up to the latest of them',
      value: { result: { header: { revision: '99' }, events: [put, gone] } },
      message: {
        kind: 'changes',
        revision: 14,
        changes: [
          { kind: 'put', stored: { key: '/a', value: '1', lease: '' } },
          { kind: 'delete', key: '/b' },
        ],
      },
    },
    {
      name: 'reads how far etcd is',
      value: { result: { header: HEADER } },
      message: { kind: 'changes', revision: 12, changes: [] },
    },
    {
      name: 'reads that the past is forgotten',
      value: { result: { header: HEADER, canceled: true, compact_revision: '11' } },
      message: { kind: 'cancelled', reason: 'cancelled', isCompacted: true },
    },
    {
      name: 'reads that a watch is refused',
      value: { result: { created: true, canceled: true, cancel_reason: 'permission denied' } },
      message: { kind: 'cancelled', reason: 'permission denied', isCompacted: false },
    },
    {
      name: 'reads an error',
      value: { error: { grpc_code: 14, http_code: 503, message: 'etcdserver: no leader' } },
      message: { kind: 'error', reason: 'etcdserver: no leader', code: 14 },
    },
  ]
  for (const { name, value, message } of cases) {
    test(name, () => {
      assert.deepEqual(parseWatchMessage(value), message)
    })
  }
})

test('parseError reads errors of all ages', () => {
  const cases: [value: unknown, error: ReturnType<typeof parseError>][] = [
    [
      { error: 'old', code: 11 },
      { reason: 'old', code: 11 },
    ],
    [
      { error: 'old', message: 'both', code: 16 },
      { reason: 'both', code: 16 },
    ],
    [
      { code: 5, message: 'new', details: [] },
      { reason: 'new', code: 5 },
    ],
    [{ error: { grpc_code: 14, message: 'nested' } }, { reason: 'nested', code: 14 }],
    [{}, { reason: 'an error without a reason', code: undefined }],
  ]
  for (const [value, error] of cases) assert.deepEqual(parseError(value), error)
})

test('parseTimeToLive and parseToken accept missing fields', () => {
  assert.equal(parseTimeToLive({ ID: '1', TTL: '55', grantedTTL: '60' }), 55)
  assert.equal(parseTimeToLive({ TTL: '-1' }), -1)
  assert.equal(parseTimeToLive({ TTL: 'x' }), 0)
  assert.equal(parseToken({ token: 't.1' }), 't.1')
  assert.equal(parseToken(null), '')
})

test('never throw for any JSON', () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.constantFrom('result', 'header', 'kvs', 'events'),
      (value, at) => {
        for (const parse of [
          parseKeyRange,
          parseWatchMessage,
          parseError,
          parseTimeToLive,
          parseToken,
        ]) {
          parse(value)
          parse({ [at]: value, result: { [at]: value, events: [value], kvs: [value] } })
        }
      },
    ),
  )
})
