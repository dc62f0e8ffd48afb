/**
 * The zones of a `kubernetes` directive as answering sees them, for tests of its parts.
 * @module
 */
import assert from 'node:assert/strict'
import { parseKubernetes } from '../../../../src/corefile/kubernetes-options.ts'
import { ROOT } from '../../../../src/dns/names/name.ts'
import { TYPE } from '../../../../src/dns/names/rr-type.ts'
import { parseQuery, type Query } from '../../../../src/dns/wire/query.ts'
import { writeQuery } from '../../../../src/dns/wire/write-query.ts'
import {
  type Zones,
  zoneOf,
  zonesOfDirective,
} from '../../../../src/resolver/plugins/kubernetes/zone.ts'
import type { ZonePlace } from '../../../../src/resolver/plugins/kubernetes/zone-reply.ts'
import { parseDirective } from '../../../ask.ts'
import { type FakeClusterOptions, openFakeCluster } from '../../../fake-cluster.ts'
import { parseQuestion } from '../../../message-text.ts'

/** Reads a question such as `web.shop.svc.cluster.local A`. */
export function queryOf(question: string): Query {
  return parse(parseQuestion(question).message)
}

/** A query for the addresses of any name. */
export function queryFor(name: Uint8Array): Query {
  return parse(writeQuery({ name, type: TYPE.A }))
}

/** The zones of a directive. */
export function zonesOf(line: string): Zones {
  return zonesOfDirective(parseKubernetes(parseDirective(line), [ROOT]))
}

/** The zone that a query is in; `loads` gets what is asked to be loaded. */
export function viewOf(
  query: Query,
  line: string,
  cluster: FakeClusterOptions,
  loads: (number | undefined)[] = [],
): ZonePlace {
  const options = parseKubernetes(parseDirective(line), [ROOT])
  const { all, home } = zonesOfDirective(options)
  const zone = zoneOf({ all, home }, query)
  const source = openFakeCluster(cluster, options, loads)
  const snapshot = source.current()
  assert.ok(zone && snapshot, 'the query is in a zone, and there is a snapshot')
  return { zone, home, rules: options.rules, snapshot, source, visibility: undefined }
}

function parse(message: Uint8Array): Query {
  const query = parseQuery(message)
  return query.kind === 'query' ? query : assert.fail('not a query')
}
