/**
 * The bill of materials of an image, as SPDX 2.3 in JSON.
 * @module
 */

/** A package of an image. */
export type Component = {
  /** Package URL without its version: `pkg:npm/hono`, `pkg:deb/debian/libc6`. */
  readonly purl: string
  readonly version: string
  /** An SPDX licence expression; NOASSERTION if it is in the package's copyright file. */
  readonly license: string
  /** SHA-256 of the package's file in hexadecimal, if there is one. */
  readonly sha256?: string
}

/** Returns the document; the first component is the one that contains all others. */
export function spdxOf(components: readonly Component[], created: string): string {
  const packages = components.map(packageOf)
  const [main] = packages
  const { version = '' } = components[0] ?? {}
  const relationships = packages.map(({ SPDXID }, i) =>
    i === 0
      ? {
          spdxElementId: 'SPDXRef-DOCUMENT',
          relationshipType: 'DESCRIBES',
          relatedSpdxElement: SPDXID,
        }
      : { spdxElementId: main?.SPDXID, relationshipType: 'CONTAINS', relatedSpdxElement: SPDXID },
  )
  const document = {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `kubedoh-${version}`,
    documentNamespace: `https://kubedoh.invalid/spdx/${version}`,
    creationInfo: { created, creators: ['Tool: kubedoh-build-image'] },
    packages,
    relationships,
  }
  return `${JSON.stringify(document, undefined, 2)}\n`
}

function packageOf({ purl, version, license, sha256 }: Component, i: number) {
  const [bare = '', query] = purl.split('?')
  const locator = `${bare}@${encodeURIComponent(version)}${query === undefined ? '' : `?${query}`}`
  const kind = 'PACKAGE-MANAGER'
  return {
    SPDXID: `SPDXRef-Package-${i}`,
    name: decodeURIComponent(bare.replace(/^pkg:(npm|generic|deb\/debian)\//, '')),
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: license,
    copyrightText: 'NOASSERTION',
    externalRefs: [{ referenceCategory: kind, referenceType: 'purl', referenceLocator: locator }],
    ...(sha256 === undefined
      ? {}
      : { checksums: [{ algorithm: 'SHA256', checksumValue: sha256 }] }),
  }
}
