/**
 * Explains names of a cluster that is given as text.
 * @module
 */
import assert from 'node:assert/strict'
import { parseKubernetes } from '../../../../src/corefile/kubernetes-options.ts'
import type { Turns } from '../../../../src/dns/bytes/steps.ts'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { parseQuery, Query } from '../../../../src/dns/wire/query.ts'
import { visibilityOf } from '../../../../src/gateway/access/token.ts'
import type { Fact } from '../../../../src/resolver/contract/fact.ts'
import { explainPlace } from '../../../../src/resolver/plugins/kubernetes/explain/explain.ts'
import { zoneOf, zonesOfDirective } from '../../../../src/resolver/plugins/kubernetes/zone.ts'
import { Visibility } from '../../../../src/snapshot/read/visibility.ts'
import { parseDirective } from '../../../ask.ts'
import { type FakeClusterOptions, openFakeCluster } from '../../../fake-cluster.ts'
import { WHOLE_SCOPE } from '../../../gateway/whole-scope.ts'
import { parseQuestion } from '../../../message-text.ts'
import { NO_TIME } from '../../../turns.ts'

/** A cluster, and what the client sees of it. */
export type ExplainedCluster = FakeClusterOptions & {
  readonly pods?: 'disabled' | 'insecure' | 'verified'
  readonly sees?: (namespace: string) => boolean
  /** Whether the thread with the objects does not answer. */
  readonly isSilent?: true
  readonly turns?: Turns
}

/** Returns the fact about `NAME TYPE` below `cluster.local` or `in-addr.arpa`. */
export async function explainIn(cluster: ExplainedCluster, question: string): Promise<Fact> {
  const { pods = 'verified', sees, isSilent, turns = NO_TIME, ...options } = cluster
  const line = `kubernetes cluster.local in-addr.arpa {\n  pods ${pods}\n}`
  const directive = parseKubernetes(parseDirective(line), [nameOf('.')])
  const zones = zonesOfDirective(directive)
  const query = parseQuery(parseQuestion(question).message, new Query())
  assert.ok(query.kind === 'query')
  const zone = zoneOf(zones, query)
  assert.ok(zone)
  const [fact] = await explainPlace(query, {
    zone,
    source: {
      ...openFakeCluster(options, directive, []),
      ...(isSilent && { serviceState: () => Promise.resolve(undefined) }),
    },
    cluster: undefined,
    tree: 'cluster',
    visibility: sees && { ...visibilityOf(WHOLE_SCOPE), namespaces: new Visibility(sees) },
    home: zones.home.bytes,
    rules: 'coredns',
    turns,
  })
  return fact
}
