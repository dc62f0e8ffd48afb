/**
 * Hostnames of objects, each a group of its own. If objects of several namespaces claim the same
 * hostname, the one that wins is decided here, not at query time: the first kind in the order of
 * the resources and, within a kind, the oldest object. A name above hostnames is a group as well.
 * @module
 */
import { finish, type Steps } from '../../dns/bytes/steps.ts'
import { CLAIMS_MAX } from '../../snapshot/records/host-claims.ts'
import type { RRset, ZoneEntry } from '../../snapshot/records/zone-entry.ts'
import {
  type ClusterObject,
  describeObject,
  type EndpointSlice,
  type HostName,
  type Kind,
  type Service,
} from '../objects/objects.ts'
import type { SelectedHosts } from '../objects/options.ts'
import { mayHaveNames } from '../objects/selection.ts'
import { routerRefusal } from '../rules/dns-records.ts'
import { hostRecords, isTarget, isWithin, namesOfHost, type Targets } from '../rules/host-names.ts'
import { hostsOf, type Naming } from '../rules/object-hosts.ts'
import { type Claim, createdMs, isEmpty, joinTargets, sharing } from './claims.ts'
import { CnameLoops } from './cname-loops.ts'
import { describeConflict, type HostConflict, HostConflicts } from './host-conflicts.ts'
import { HostObjects } from './host-objects.ts'
import { NamesBelow } from './names-below.ts'
import { type RecordVerdict, RecordVerdicts } from './record-verdicts.ts'

/** Hostnames that a step handles. */
const STEP_HOSTS = 50

/** The present objects with hostnames, and their targets. */
export class HostGroups {
  private readonly tree: SelectedHosts
  private readonly objects: HostObjects
  private readonly records = new RecordVerdicts()
  private readonly conflicting = new HostConflicts()
  private readonly loops = new CnameLoops()
  private readonly below: NamesBelow
  /** The hosts of objects by their absolute names, as far as this build has needed them. */
  private readonly hosts = new Map<Naming, ReadonlyMap<string, readonly HostName[]>>()
  private isAllChanged = true

  constructor(tree: SelectedHosts) {
    this.tree = tree
    this.objects = new HostObjects(tree, this.records)
    this.below = new NamesBelow(tree.zones)
  }

  /** Adds or replaces an object. Ignores other kinds. */
  set(object: ClusterObject): void {
    this.objects.set(object)
  }

  /** Removes an object, if it exists. */
  delete(kind: Kind, namespace: string, name: string): void {
    this.objects.delete(kind, namespace, name)
  }

  /** Returns the names that changed since the last call. */
  takeChanged(): readonly string[] {
    return finish(this.takeChangedInSteps())
  }

  /** Does what `takeChanged` does in steps, each some hostnames. */
  *takeChangedInSteps(): Steps<readonly string[]> {
    this.hosts.clear()
    yield* this.objects.apply()
    const taken = this.objects.takeChanged()
    const changed = new Set(this.isAllChanged ? this.objects.allNames() : taken)
    const isAll = this.isAllChanged
    this.isAllChanged = false
    let step = 0
    for (const name of [...new Set([...changed, ...taken])]) {
      if (step++ % STEP_HOSTS === 0) yield
      for (const object of this.objects.sayersOf(name)) yield* this.readHosts(object)
      for (const above of this.below.set(name, this.publishersOf(name))) changed.add(above)
    }
    return isAll ? [...new Set([...changed, ...this.below.names()])] : [...changed]
  }

  /** Marks all names as changed. */
  markAll(): void {
    this.isAllChanged = true
  }

  /** Forgets what only the build that has ended needed. */
  endBuild(): void {
    this.hosts.clear()
  }

  /**
   * Returns a name's present records, of each namespace with a claim to it, and whether there are
   * hostnames below it. Objects of one kind in one namespace share the name, as in k8s_gateway.
   */
  entriesOf(name: string): readonly ZoneEntry[] {
    const all = this.claimsOf(name)
    const claims = Map.groupBy(all, ({ object }) => object.namespace)
    this.noteConflict(name, [...claims.values()])
    const [first = []] = claims.values()
    this.loops.set(name, joinTargets(sharing(first)).hosts)
    const objects = all.map(({ object }) => object)
    this.records.decide(name, objects, new Set(sharing(first).map(({ object }) => object)))
    const own = [...claims].slice(0, CLAIMS_MAX).flatMap(([namespace, own], rank) => {
      const same = sharing(own)
      const objects = own.map(({ object }) => describeObject(object))
      const claim = { ...joinTargets(same), namespace, rank, objects }
      return hostRecords(name, claim, this.tree.ttlSeconds)
    })
    return [...own, ...this.below.entriesOf(name)]
  }

  /** Returns the claims to a hostname that have targets, the one that wins first. */
  private claimsOf(name: string): Claim[] {
    const { resources } = this.tree
    const claims = this.objects.sayersOf(name).flatMap((object): Claim[] => {
      if (!mayHaveNames(object, this.tree)) return []
      const targets = this.targetsOf(object, name)
      if (!isEmpty(targets)) return [{ object, ...targets }]
      if (object.kind === 'HostRoute') this.records.set(object, routerRefusal(this.tree))
      return []
    })
    const rankOf = ({ object }: Claim): number => resources.indexOf(object.kind)
    // Sorting is stable: what is as old stays in the order of the identifiers.
    return claims.sort((a, b) => rankOf(a) - rankOf(b) || createdMs(a) - createdMs(b))
  }

  /**
   * Returns the namespaces that publish a name as they say it. An absolute hostname once more below
   * a zone, as in k8s_gateway, makes no names above it exist: nobody queries it.
   */
  private publishersOf(name: string): readonly string[] {
    const namespaces = new Set(this.claimsOf(name).map(({ object }) => object.namespace))
    const said = this.objects.sayersOf(name).filter((object) =>
      this.hostsByName(object)
        .get(name)
        ?.some((host) => host.name === name || !this.isAbsolute(host.name)),
    )
    const saying = new Set(said.map((object) => object.namespace))
    return [...namespaces].slice(0, CLAIMS_MAX).filter((one) => saying.has(one))
  }

  private isAbsolute(name: string): boolean {
    return this.tree.zones.some((zone) => isWithin(name, zone))
  }

  /** Returns nothing: these zones are not transferred, as in k8s_gateway. */
  transferRecords(): Iterable<RRset> {
    return []
  }

  /** Returns nothing: hostnames do not belong to Pods. */
  podAt(_client: string): undefined {
    return undefined
  }

  /** Finds the slice of the same name. */
  sliceLike(slice: EndpointSlice): EndpointSlice | undefined {
    return this.objects.sliceLike(slice)
  }

  /** Finds the Service that a slice belongs to. */
  serviceOf(slice: EndpointSlice): Service | undefined {
    return this.objects.serviceOf(slice)
  }

  /**
   * Returns hostnames that objects of several namespaces claim, of groups that were built: some of
   * each namespace whose object came last.
   */
  get conflicts(): readonly HostConflict[] {
    return this.conflicting.some()
  }

  /**
   * Returns a line for each hostname that is invalid or has several owners, and one
   * if hostnames are outside of the zones: a cluster may have many of these, for other zones.
   */
  warnings(): string[] {
    finish(this.objects.apply())
    const invalid = [
      ...this.objects.warnings(),
      ...this.conflicts.map(describeConflict),
      ...this.records.warnings(),
      ...this.loops.warnings(),
    ]
    const first = this.objects.firstOutside()
    if (first === undefined) return invalid
    const zones = this.tree.zones.join(' ')
    const message = `hostnames outside of the zones ${zones} have names below these only`
    return [...invalid, `${first}: ${message}`]
  }

  /** Returns the decisions on DNSRecords. */
  verdicts(): readonly RecordVerdict[] {
    finish(this.objects.apply())
    return this.records.all()
  }

  /** @param owners the claims of each namespace, those of the owner first */
  private noteConflict(host: string, owners: readonly (readonly Claim[])[]): void {
    const objects = owners.slice(0, CLAIMS_MAX).flatMap(([first]) => first?.object ?? [])
    // A name with bindings only has the conflict of the hostname that they describe.
    const isDerived = owners.flat().every((claim) => isEmpty({ ...claim, bindings: [] }))
    const isNone = objects.length < 2 || isDerived || this.isRepeated(host)
    this.conflicting.set(host, isNone ? undefined : { host, objects })
  }

  /** Returns whether a name is an absolute hostname, once more below a zone as in k8s_gateway. */
  private isRepeated(name: string): boolean {
    return this.tree.zones.some(
      (zone) => name.endsWith(`.${zone}`) && this.objects.isSaid(name.slice(0, -zone.length - 1)),
    )
  }

  private targetsOf(object: Naming, name: string): Targets {
    const { inside } = this.objects
    const own = this.hostsByName(object).get(name) ?? []
    return joinTargets(
      own.map(({ name: said, targets, texts, records = [], bindings = [], ...host }) => {
        const valid = targets.filter((target) => isTarget(target) && target !== said)
        const hosts = inside === undefined ? valid : inside.replace(valid)
        const { ttlSeconds, isAlias = false, coverage = 'zone' } = host
        return { hosts, texts, records, bindings, ttlSeconds, isAlias, coverage }
      }),
    )
  }

  /**
   * Returns an object's hosts by their absolute names. Keeps them until the build ends: an object
   * may have thousands, and each name asks for those of its own.
   */
  private hostsByName(object: Naming): ReadonlyMap<string, readonly HostName[]> {
    return finish(this.readHosts(object))
  }

  private *readHosts(object: Naming): Steps<ReadonlyMap<string, readonly HostName[]>> {
    const known = this.hosts.get(object)
    if (known !== undefined) return known
    const byName = new Map<string, HostName[]>()
    for (const [i, host] of hostsOf(object, this.objects.context).entries()) {
      if (i % STEP_HOSTS === 0) yield
      for (const name of namesOfHost(host, this.tree.zones)) {
        const same = byName.get(name)
        if (same === undefined) byName.set(name, [host])
        else same.push(host)
      }
    }
    this.hosts.set(object, byName)
    return byName
  }
}
