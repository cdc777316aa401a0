import {describe} from 'node:test'
import {auditConformance} from './conformance/audit.js'
import {blobConformance} from './conformance/blobs.js'
import {claimConformance} from './conformance/claims.js'
import {concurrencyConformance} from './conformance/concurrent.js'
import {credentialConformance} from './conformance/credentials.js'
import {deadMessageConformance} from './conformance/dead-messages.js'
import {leaseConformance} from './conformance/leases.js'
import {messageConformance} from './conformance/messages.js'
import {modelConformance} from './conformance/model.js'
import {nodeListConformance} from './conformance/node-list.js'
import {nodeConformance} from './conformance/nodes.js'
import {purgeConformance} from './conformance/purge.js'
import type {OpenStore} from './conformance/story.js'

/** Conformance suite for all drivers of the store. */
export function meshStoreConformance(open: OpenStore): void {
  describe('nodes', () => nodeConformance(open))
  describe('node list', () => nodeListConformance(open))
  describe('leases', () => leaseConformance(open))
  describe('messages', () => messageConformance(open))
  describe('claims', () => claimConformance(open))
  describe('concurrent requests', () => concurrencyConformance(open))
  describe('dead messages', () => deadMessageConformance(open))
  describe('files', () => blobConformance(open))
  describe('audit log', () => auditConformance(open))
  describe('credentials', () => credentialConformance(open))
  describe('purge', () => purgeConformance(open))
  describe('random histories', () => modelConformance(open))
}
