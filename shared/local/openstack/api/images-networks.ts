// Glance and Neutron: just enough to find an image and a network by name.
import type { Route } from '../http/request.ts'

export const imageRoutes: Route[] = [
  {
    service: 'image',
    method: 'GET',
    path: '/v2/images',
    handle(world, { query }) {
      const name = query.get('name')
      const images = world.images
        .filter(image => name === null || image.name === name)
        .map(({ id, name }) => ({ id, name, status: 'active' }))
      return { status: 200, body: { images, first: '/v2/images', schema: '/v2/schemas/images' } }
    }
  }
]

export const networkRoutes: Route[] = [
  {
    service: 'network',
    method: 'GET',
    path: '/v2.0/networks',
    handle(world, { query }) {
      const [name, project, shared] = ['name', 'project_id', 'shared'].map(key => query.get(key))
      const found = world.networks.filter(
        network =>
          (!name || network.name === name) &&
          (!project || network.projectId === project) &&
          (!shared || String(network.shared) === shared)
      )
      const networks = found.map(({ id, name, projectId, shared }) => ({
        id,
        name,
        project_id: projectId,
        shared,
        status: 'ACTIVE'
      }))
      return { status: 200, body: { networks } }
    }
  }
]
