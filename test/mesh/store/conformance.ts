import {describe} from 'node:test'
import {auditConformance} from './conformance/audit.js'
import {claimConformance} from './conformance/claims.js'
import {credentialConformance} from './conformance/credentials.js'
import {deadMessageConformance} from './conformance/dead-messages.js'
import {leaseConformance} from './conformance/leases.js'
import {messageConformance} from './conformance/messages.js'
import {modelConformance} from './conformance/model.js'
import {nodeListConformance} from './conformance/node-list.js'
import {nodeConformance} from './conformance/nodes.js'
import {purgeConformance} from './conformance/purge.js'
import type {OpenStore} from './conformance/story.js'

/** What every driver of the store must do, whatever it keeps its rows in. */
export function meshStoreConformance(open: OpenStore): void {
  describe('nodes', () => nodeConformance(open))
  describe('the list of nodes', () => nodeListConformance(open))
  describe('leases', () => leaseConformance(open))
  describe('messages', () => messageConformance(open))
  describe('claims', () => claimConformance(open))
  describe('dead messages', () => deadMessageConformance(open))
  describe('the audit', () => auditConformance(open))
  describe('credentials', () => credentialConformance(open))
  describe('what has had its time', () => purgeConformance(open))
  describe('long stories', () => modelConformance(open))
}
