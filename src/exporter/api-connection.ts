/**
 * How a `kubernetes` directive and the flags say to reach the API server.
 * @module
 */
import { resolve } from 'node:path'
import type { KubernetesOptions } from '../corefile/kubernetes-options.ts'
import type { ApiConnection } from './object-api.ts'

/**
 * Finds the way to the API server.
 * @param kubeconfig the flag, which counts before what the directive says; '' for none
 * @param folder what the directive's paths are relative to
 */
export function connectionOf(
  directive: KubernetesOptions,
  { kubeconfig, folder }: { readonly kubeconfig: string; readonly folder: string },
): ApiConnection {
  const path = (text: string): string => resolve(folder, text)
  if (kubeconfig !== '') return { kind: 'kubeconfig', path: kubeconfig, context: undefined }
  if (directive.kubeconfig !== undefined) {
    const { context } = directive.kubeconfig
    return { kind: 'kubeconfig', path: path(directive.kubeconfig.path), context }
  }
  const { endpoint, tls } = directive
  if (endpoint === undefined) return { kind: 'default' }
  const files = tls && { cert: path(tls.cert), key: path(tls.key), ca: path(tls.ca) }
  return { kind: 'endpoint', url: endpoint, tls: files }
}
