import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { HostObject } from '../../../src/cluster/objects/objects.ts'
import { OWNER_CHARS_MAX } from '../../../src/cluster/objects/parse-dns-record.ts'
import {
  HOST_PATTERN,
  PATH_CHARS_MAX,
  PATH_PATTERN,
  PATHS_MAX,
  SERVICE_PATTERN,
} from '../../../src/cluster/objects/parse-host-route.ts'
import { parseObject } from '../../../src/cluster/objects/parse-object.ts'
import { INVALID_ROUTES, ROUTE_DEFINITION, routeTo, VALID_ROUTES } from '../host-route-cases.ts'

function parsed(spec: unknown): HostObject {
  const metadata = { name: 'r', namespace: 'shop', generation: 3, resourceVersion: '7' }
  const object = parseObject({ kind: 'HostRoute', metadata, spec })
  assert.ok(object?.kind === 'HostRoute', JSON.stringify(object))
  return object
}

describe('a HostRoute', () => {
  for (const spec of VALID_ROUTES) {
    test(`may be ${JSON.stringify(spec).slice(0, 90)}`, () => {
      const { hosts, paths, record } = parsed(spec)
      assert.equal(record?.refusal, undefined)
      const { host, paths: wanted } = spec as { host: string; paths: unknown }
      assert.deepEqual([hosts.map(({ name }) => name), paths], [[host], wanted])
    })
  }

  for (const spec of INVALID_ROUTES) {
    test(`cannot be ${JSON.stringify(spec).slice(0, 90)}`, () => {
      const { hosts, paths, record } = parsed(spec)
      assert.deepEqual([hosts, paths], [[], []])
      assert.match(record?.refusal?.reason ?? '', /^(?:InvalidValue|NameTooLong)$/)
      assert.ok((record?.refusal?.message.length ?? 999) < 200)
    })
  }

  test('has its generation and version', () => {
    const { record } = parsed(routeTo('/'))
    assert.deepEqual(record, {
      isCname: false,
      refusal: undefined,
      generation: 3,
      resourceVersion: '7',
      conditions: [],
    })
  })

  test('has the patterns and bounds of the schema', () => {
    const schema = JSON.stringify(ROUTE_DEFINITION)
    const parts = [
      `self.host.matches(r'${HOST_PATTERN}')`,
      `self.paths.all(one, one.path.matches(r'${PATH_PATTERN}'))`,
      `self.paths.all(one, one.service.matches(r'${SERVICE_PATTERN}'))`,
    ].map((rule) => `{"rule":${JSON.stringify(rule)}`)
    const bounds = [OWNER_CHARS_MAX, PATH_CHARS_MAX].map((count) => `"maxLength":${count}`)
    for (const part of [...parts, ...bounds, `"maxItems":${PATHS_MAX},`]) {
      assert.ok(schema.includes(part), part)
    }
  })
})
