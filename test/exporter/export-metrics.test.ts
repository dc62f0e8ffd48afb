import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { CollectionState } from '../../src/cluster/api/shared-watch.ts'
import { createObjectSource, type ExportSource } from '../../src/cluster/follow/export-source.ts'
import type { BuiltSnapshot } from '../../src/cluster/follow/snapshot-builder.ts'
import { Metrics } from '../../src/dns/telemetry/metrics.ts'
import { recordPublished, recordSource } from '../../src/exporter/export-metrics.ts'
import type { PublishReport } from '../../src/exporter/publisher.ts'
import { optionsOf } from '../cluster/naming.ts'

/** Samples without the prefix that all share. */
function samples(metrics: Metrics): string[] {
  return metrics
    .format()
    .split('\n')
    .filter((line) => line.startsWith('kubedoh_exporter_'))
    .map((line) => line.replace('kubedoh_exporter_', ''))
}

function sourceOf(states: readonly CollectionState[]): ExportSource {
  const now = (): number => 0
  const source = createObjectSource([], { naming: optionsOf(), onWarning: assert.fail, now })
  return { ...source, states: () => states }
}

const BUILT: BuiltSnapshot = {
  shards: [Uint8Array.of(1), Uint8Array.of(2)],
  records: 7,
  ttlSeconds: 5,
  origins: [],
  warnings: ['a', 'b', 'c'],
}
const REPORT: PublishReport = {
  generation: 1767225600,
  records: 7,
  isConfirmation: false,
  shards: 1,
  shardBytes: 1000,
  manifestBytes: 300,
}
const FACTS = ['confirmed_timestamp_seconds 1767225600.5', 'records 7', 'shards 2']

describe('recordSource', () => {
  const services: CollectionState = {
    resource: 'services',
    count: 3,
    invalid: 0,
    lists: 1,
    missed: 0,
    isConnected: true,
    isAvailable: true,
  }

  test('publishes the state of each collection, and drops old states', () => {
    const metrics = new Metrics()
    recordSource(metrics, sourceOf([services]))
    const pods: CollectionState = {
      ...services,
      resource: 'pods',
      count: 9,
      invalid: 1,
    }
    const refused = { isConnected: false, isAvailable: false }
    recordSource(metrics, sourceOf([{ ...services, count: 2, lists: 4, ...refused }, pods]))
    assert.deepEqual(samples(metrics), [
      'invalid_objects{resource="services"} 0',
      'invalid_objects{resource="pods"} 1',
      'kind_available{resource="services"} 0',
      'kind_available{resource="pods"} 1',
      'lists_total{resource="services"} 4',
      'lists_total{resource="pods"} 1',
      'missed_changes_total{resource="services"} 0',
      'missed_changes_total{resource="pods"} 0',
      'objects{resource="services"} 2',
      'objects{resource="pods"} 9',
      'watch_connected{resource="services"} 0',
      'watch_connected{resource="pods"} 1',
    ])
  })

  test('publishes nothing for a source without collections', () => {
    const metrics = new Metrics()
    recordSource(metrics, sourceOf([]))
    assert.equal(metrics.format(), '')
  })
})

describe('recordPublished', () => {
  const cases: {
    name: string
    outcomes: (PublishReport | 'nothing to publish' | 'failed')[]
    samples: string[]
  }[] = [
    {
      name: 'counts a failure',
      outcomes: ['failed', 'failed'],
      samples: ['publishes_total{result="failed"} 2'],
    },
    {
      name: 'counts what was stored, and adds up what was uploaded',
      outcomes: [REPORT, { ...REPORT, generation: 1767225601, shardBytes: 0 }],
      samples: [
        ...FACTS.slice(0, 1),
        'generation 1767225601',
        'host_conflicts 0',
        'publishes_total{result="stored"} 2',
        ...FACTS.slice(1),
        'unnamed_objects 3',
        'uploaded_bytes_total 1600',
      ],
    },
    {
      name: 'counts nothing when there was nothing to report',
      outcomes: ['nothing to publish'],
      samples: [...FACTS.slice(0, 1), 'host_conflicts 0', ...FACTS.slice(1), 'unnamed_objects 3'],
    },
  ]
  for (const { name, outcomes, samples: expected } of cases) {
    test(name, () => {
      const metrics = new Metrics()
      for (const outcome of outcomes) {
        const report =
          outcome === 'nothing to publish' || outcome === 'failed' ? undefined : outcome
        const published = { built: BUILT, report, confirmedMs: 1767225600500 }
        recordPublished(metrics, outcome === 'failed' ? undefined : published)
      }
      assert.deepEqual(samples(metrics), expected)
    })
  }

  test('explains each metric', () => {
    const metrics = new Metrics()
    recordPublished(metrics, { built: BUILT, report: REPORT, confirmedMs: 0 })
    const names = samples(metrics).map((line) => line.replace(/[ {].*/, ''))
    const helps = metrics.format().match(/^# HELP kubedoh_exporter_\w+ [A-Z].*\.$/gm) ?? []
    assert.deepEqual(
      helps.map((line) => line.split(' ')[2]?.replace('kubedoh_exporter_', '')),
      [...new Set(names)],
    )
  })
})
