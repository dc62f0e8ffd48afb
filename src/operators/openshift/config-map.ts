/**
 * Writes ConfigMaps, without overwriting what another writer has changed in between.
 * @module
 */

import type { ObjectApi } from '../../cluster/api/object-api.ts'
import { recordOf } from '../../dns/bytes/unknown.ts'

/** Namespace and name of a ConfigMap. */
export type ConfigMapName = { readonly namespace: string; readonly name: string }

/** Returns the path of the ConfigMaps of a namespace. */
export function configMapsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps`
}

/**
 * Creates a ConfigMap, or replaces the data of one.
 * @param before the ConfigMap as it was read; `undefined` if there is none
 * @throws {ApiError} among others with status 409, if another writer came first
 */
export async function writeConfigMap(
  api: ObjectApi,
  { namespace, name }: ConfigMapName,
  write: { readonly before: unknown; readonly data: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<void> {
  const { before, data } = write
  const path = configMapsPath(namespace)
  const resource = 'configmaps'
  const kind = { apiVersion: 'v1', kind: 'ConfigMap' }
  if (before === undefined) {
    const body = { ...kind, metadata: { namespace, name }, data }
    await api.send({ method: 'POST', path, resource, body }, signal)
    return
  }
  // The metadata with its version is what makes the API server refuse an outdated write.
  const body = { ...kind, metadata: recordOf(before).metadata, data }
  await api.send({ method: 'PUT', path: `${path}/${name}`, resource, body }, signal)
}

/** Whether a ConfigMap has exactly this data. */
export function hasData(configMap: unknown, data: Readonly<Record<string, string>>): boolean {
  const present = recordOf(recordOf(configMap).data)
  const names = Object.keys(data)
  return (
    names.length === Object.keys(present).length &&
    names.every((name) => present[name] === data[name])
  )
}
