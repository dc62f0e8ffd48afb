/**
 * The host of `etcd`.
 * @module
 */
import type { Host } from '../../chain/host.ts'
import type { KeyTable } from './key-table.ts'
import type { EtcdConnection } from './options.ts'

/** The keys of an etcd, in memory and up to date. */
export type KeySource = {
  /** The keys; `undefined` until the first read is complete. */
  readonly current: () => KeyTable | undefined
  /**
   * Lower bound of the seconds until a lease ends, unless it is renewed; at least 1. `undefined`
   * for an unknown lease.
   */
  readonly leaseSeconds: (lease: string) => number | undefined
}

/** A host that may read an etcd. */
export type EtcdHost = Host & {
  /**
   * Opens the keys of an `etcd` directive. Absent at gateways.
   * @throws {ConfigError} when the options do not fit
   */
  readonly openKeys?: (connection: EtcdConnection) => KeySource
}
