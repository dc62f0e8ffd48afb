/**
 * Runs helm on the charts in `deploy`, for the suites of the chart.
 * @module
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { ApiObject } from '../real-cluster/api-server.ts'
import { KUBERNETES, prepareHelm } from '../real-cluster/binaries.ts'

/** The folder of the charts, of value files and of rendered manifests. */
export const DEPLOY: string = join(import.meta.dirname, '../../deploy')
/** The chart. */
export const CHART: string = join(DEPLOY, 'chart')
/** Value files that are for tests only. */
export const VALUES: string = join(import.meta.dirname, 'values')

/** Value files for the chart of coredns/helm. */
export const COREDNS_VALUES: string = join(import.meta.dirname, 'coredns-values')

/** What helm printed, and its exit status. */
export type HelmOutput = {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs helm. */
export function helm(...args: readonly string[]): HelmOutput {
  return spawnSync(prepareHelm(), args, { encoding: 'utf8', maxBuffer: 64 << 20 })
}

/** Renders the chart as release `kubedoh` in kube-system, without the pod of `helm test`. */
export function render(...args: readonly string[]): HelmOutput {
  const options = ['--namespace', 'kube-system', '--kube-version', KUBERNETES, '--skip-tests']
  return helm('template', 'kubedoh', CHART, ...options, ...args)
}

/** Returns the objects of a manifest. */
export function objectsOf(manifest: string): ApiObject[] {
  const objects = parseAllDocuments(manifest).map((document) => document.toJS())
  return objects.filter((object) => object !== null)
}

/** Renders the chart as {@link render} does, with `--set` arguments. Fails with helm's message. */
export function objectsWith(...values: readonly string[]): ApiObject[] {
  const { status, stdout, stderr } = render(...values.flatMap((value) => ['--set', value]))
  assert.equal(status, 0, stderr)
  return objectsOf(stdout)
}
