import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { HostObject } from '../../../src/cluster/objects/objects.ts'
import {
  NAME_PATTERN,
  OWNER_CHARS_MAX,
  RECORD_TTL_SECONDS_MAX,
  TEXT_CHARS_MAX,
  VALUE_CHARS_MAX,
  VALUE_PATTERNS,
  VALUES_MAX,
  ZONE_PATTERN,
} from '../../../src/cluster/objects/parse-dns-record.ts'
import { parseObject } from '../../../src/cluster/objects/parse-object.ts'
import { HostGroups } from '../../../src/cluster/trees/host-groups.ts'
import { DEFINITION, INVALID, VALID } from '../dns-record-cases.ts'
import { formatHosts, hostsTree } from '../naming.ts'

function recordOf(spec: unknown, rest: object = {}): HostObject {
  const metadata = { name: 'r', namespace: 'shop', generation: 3, resourceVersion: '7' }
  const object = parseObject({ kind: 'DNSRecord', metadata, spec, ...rest })
  assert.ok(object?.kind === 'DNSRecord', JSON.stringify(object))
  return object
}

const TREE = hostsTree({
  resources: ['DNSRecord'],
  recordZones: [{ namespace: 'shop', zones: ['a.test'] }],
})

describe('a DNSRecord', () => {
  for (const { spec, lines } of VALID) {
    test(`has ${lines[0]?.slice(0, 70)}`, () => {
      const groups = new HostGroups(TREE)
      groups.set(recordOf(spec))
      const names = groups.takeChanged()
      assert.deepEqual(
        names.flatMap((name) => formatHosts(groups.entriesOf(name))),
        lines,
      )
      assert.deepEqual(groups.warnings(), [])
      assert.equal(groups.verdicts()[0]?.refusal, undefined)
    })
  }

  for (const { spec, message } of INVALID) {
    test(`cannot be ${JSON.stringify(spec)?.slice(0, 90)}`, () => {
      const groups = new HostGroups(TREE)
      groups.set(recordOf(spec))
      assert.deepEqual(groups.takeChanged(), [])
      const [{ refusal } = assert.fail('no verdict')] = groups.verdicts()
      assert.match(refusal?.message ?? '', message)
      const isLong = message.source.includes('characters of name and zone')
      assert.equal(refusal?.reason, isLong ? 'NameTooLong' : 'InvalidValue')
      assert.deepEqual(groups.warnings(), [`DNSRecord shop/r: ${refusal.message}`])
    })
  }

  test('has its generation, version and conditions', () => {
    const condition = {
      type: 'Accepted',
      status: 'True',
      reason: 'Accepted',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      observedGeneration: 2,
    }
    const { record } = recordOf(VALID[0]?.spec, { status: { conditions: [condition] } })
    assert.deepEqual(record, {
      isCname: false,
      refusal: undefined,
      generation: 3,
      resourceVersion: '7',
      conditions: [condition],
    })
  })

  test('has the patterns and bounds of the schema', () => {
    const schema = JSON.stringify(DEFINITION)
    const has = (part: string): void => {
      assert.ok(schema.includes(part), part)
    }
    for (const [type, pattern] of Object.entries(VALUE_PATTERNS)) {
      const rule = `self.type != '${type}' || self.values.all(value, value.matches(r'${pattern}'))`
      has(`{"rule":${JSON.stringify(rule)}`)
    }
    has(`"maxLength":${OWNER_CHARS_MAX},"pattern":${JSON.stringify(ZONE_PATTERN)}`)
    has(`"maxLength":${OWNER_CHARS_MAX},"pattern":${JSON.stringify(NAME_PATTERN)}`)
    has(`self.name.size() + self.zone.size() < ${OWNER_CHARS_MAX}"`)
    has(`"enum":${JSON.stringify(Object.keys(VALUE_PATTERNS))}`)
    has(`"maximum":${RECORD_TTL_SECONDS_MAX}`)
    has(`"maxItems":${VALUES_MAX},"items":{"type":"string","maxLength":${TEXT_CHARS_MAX}}`)
    has(`value.size() <= ${VALUE_CHARS_MAX})`)
  })
})
