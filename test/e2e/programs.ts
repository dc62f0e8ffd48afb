/**
 * Kubernetes' end-to-end tests and the program of their pods, built from its Go module.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  buildInModule,
  type GoProgram,
  goModOfKubernetes,
  KUBERNETES,
} from '../real-cluster/binaries.ts'

const TESTS = 'kubernetes_test.go'
const AGNHOST = 'k8s.io/kubernetes/test/images/agnhost'

/** Paths of the programs. */
export type E2ePrograms = { readonly tests: string; readonly agnhost: string }

/**
 * Builds or finds the programs: a minute after `prepareBinaries`, whose compiled packages they
 * share, and six with an empty cache of Go.
 */
export function prepareE2ePrograms(): E2ePrograms {
  const prepare = (folder: string): string => {
    copyFileSync(join(import.meta.dirname, TESTS), join(folder, TESTS))
    return `${goModOfKubernetes(folder, 'kubedoh.test/e2e')}tool ${AGNHOST}\n`
  }
  const build = (name: string, ...args: GoProgram['args']): string =>
    buildInModule({ name, version: KUBERNETES, folder: 'e2e', prepare, args })
  return {
    tests: build('e2e', 'test', '-c', '-vet=off', '.'),
    agnhost: build('agnhost', 'build', AGNHOST),
  }
}

/** Returns the names of all images that tests use, sorted. */
export function listImages({ tests }: E2ePrograms): string[] {
  return execFileSync(tests, ['--list-images'], { encoding: 'utf8' }).trim().split('\n').sort()
}
