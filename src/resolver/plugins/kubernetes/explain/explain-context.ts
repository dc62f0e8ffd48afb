/**
 * What an explanation is about.
 * @module
 */
import type { Turns } from '../../../../dns/bytes/steps.ts'
import type { Snapshot } from '../../../../snapshot/read/snapshot.ts'
import type { ClientVisibility } from '../../../contract/client.ts'
import type { Fact } from '../../../contract/fact.ts'
import type { ServiceState, SnapshotSource } from '../../../contract/host.ts'
import type { Rules } from '../nxdomain-rules.ts'
import type { Zone } from '../zone.ts'

/** A snapshot that may answer. */
export type ExplainedPlace = {
  readonly zone: Zone
  readonly source: SnapshotSource
  /** Identifier of the cluster; `undefined` for a watched cluster. */
  readonly cluster: string | undefined
  readonly tree: 'cluster' | 'multicluster' | 'exports'
  /** The client's visibility; `undefined` for everything. */
  readonly visibility: ClientVisibility | undefined
  /** The origin of PTR targets. */
  readonly home: Uint8Array
  readonly rules: Rules
  /** Looking for similar names takes long in a large cluster. */
  readonly turns: Turns
}

/** A snapshot whose names are explained. */
export type ExplainContext = ExplainedPlace & {
  readonly snapshot: Snapshot
  /** The Service in a forward name; `null` if it does not exist, `undefined` if unknown. */
  readonly state: ServiceState | null | undefined
}

/** What a snapshot has at a name, and what it lacks. */
export type Found = Pick<Fact, 'node' | 'reason'>
