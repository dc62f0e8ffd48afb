/**
 * The image of the pods of Kubernetes' end-to-end tests: Debian's packages, and agnhost.
 * @module
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { cacheFolder } from '../../build/cache-folder.ts'
import { packImage } from '../../build/image/oci.ts'
import { entriesOf, type TarEntry } from '../../build/image/tar.ts'
import { resolvePackages, unpackPackages } from '../debian-packages.ts'
import { KUBERNETES, prepareCoreDns } from '../real-cluster/binaries.ts'
import { type E2ePrograms, listImages } from './programs.ts'

/** What the shell commands of the tests call. */
const PACKAGES = [
  ...['base-files', 'bash', 'dash', 'coreutils', 'grep', 'sed', 'mawk', 'hostname', 'libc-bin'],
  ...['bind9-dnsutils', 'curl', 'wget', 'netcat-openbsd', 'iproute2'],
]
/** Files of no use in a container. */
const EXCLUDED = /^(usr\/share\/(doc|info|locale|man|perl5|icu)|var\/lib\/dpkg)\//
const PATH = 'PATH=/usr/sbin:/usr/bin:/sbin:/bin'
/** What scripts of the packages would create. */
const SETUP: readonly TarEntry[] = [
  { path: 'usr/bin/awk', mode: 0o777, link: 'mawk' },
  { path: 'usr/bin/nc', mode: 0o777, link: '/bin/nc.openbsd' },
  { path: 'tmp', mode: 0o1777 },
  file('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n'),
  file('etc/group', 'root:x:0:\n'),
  file('etc/nsswitch.conf', 'hosts: files dns\n'),
]
/** Images that the tests name: nothing queries the pods of `nginx`, which must only be Ready. */
const STANDS_IN_FOR = /\/e2e-test-images\/(agnhost|jessie-dnsutils|nginx):/

/** An archive, and the names under which the tests use its image. */
export type E2eImage = { readonly archive: Buffer; readonly names: readonly string[] }

/** Builds the image, or finds it in the cache. */
export function prepareE2eImage(programs: E2ePrograms): E2eImage {
  const names = listImages(programs).filter((one) => STANDS_IN_FOR.test(one))
  const [name = ''] = names
  const path = cacheFolder(`e2e-image-${KUBERNETES}.tar`)
  if (!existsSync(path)) {
    const config = { Entrypoint: ['/agnhost'], Cmd: ['test-webserver'], Env: [PATH] }
    const platform = { architecture: 'amd64', layers: [rootOf(programs)] }
    writeFileSync(`${path}.new`, packImage([platform], { name, created: 0, config }).archive)
    renameSync(`${path}.new`, path)
  }
  return { archive: readFileSync(path), names }
}

function rootOf({ agnhost }: E2ePrograms): TarEntry[] {
  const folder = unpackPackages('e2e-debian', resolvePackages(PACKAGES))
  const program = (path: string, from: string): TarEntry => ({
    path,
    mode: 0o755,
    content: readFileSync(from),
  })
  return [
    ...entriesOf(folder).filter(({ path }) => !EXCLUDED.test(path)),
    ...SETUP,
    program('agnhost', agnhost),
    // A DNS server that some tests start as their upstream.
    program('coredns', prepareCoreDns()),
  ]
}

function file(path: string, text: string): TarEntry {
  return { path, mode: 0o644, content: Buffer.from(text) }
}
