/**
 * The connection to the API server by a `kubernetes` directive and flags.
 * @module
 */
import { resolve } from 'node:path'
import type { KubernetesOptions } from '../corefile/kubernetes-options.ts'
import type { ApiConnection } from './object-api.ts'

/**
 * Returns how to reach the API server.
 * @param kubeconfig the flag, which overrides the directive; '' for none
 * @param folder base of the directive's relative paths
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
