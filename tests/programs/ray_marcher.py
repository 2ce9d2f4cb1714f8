"""Shading of a scene of signed distances by ray marching."""

from __future__ import annotations

import numpy as np


def normalised(v):
    return v / np.sqrt(np.dot(v, v))


def sphere(centre, radius):
    return lambda p: np.linalg.norm(p - centre) - radius


def plane(normal, height):
    normal = normalised(np.array(normal, dtype=float))
    return lambda p: np.dot(p, normal) + height


def smooth_union(a, b, k=0.2):
    def distance(p):
        da, db = a(p), b(p)
        h = np.clip(0.5 + 0.5 * (db - da) / k, 0.0, 1.0)
        return db * (1 - h) + da * h - k * h * (1 - h)

    return distance


def march(scene, origin, direction, far=10.0, eps=1e-3):
    t = 0.0
    for _ in range(64):
        d = scene(origin + t * direction)
        if d < eps:
            return t
        t += d
        if t > far:
            break
    return None


def gradient_of(scene, p, h=1e-3):
    g = np.zeros(3)
    for i in range(3):
        e = np.zeros(3)
        e[i] = h
        g[i] = scene(p + e) - scene(p - e)
    return normalised(g)


class Camera:
    def __init__(self, position, target):
        self.position = position
        self.forward = normalised(target - position)
        self.right = normalised(np.cross(self.forward, np.array([0.0, 1.0, 0.0])))
        self.up = np.cross(self.right, self.forward)

    def ray(self, u, v):
        return normalised(self.forward + u * self.right + v * self.up)


def render(scene, camera, light, size=3):
    image = np.zeros((size, size))
    for row in range(size):
        for column in range(size):
            direction = camera.ray((column - 1) * 0.3, (1 - row) * 0.3)
            t = march(scene, camera.position, direction)
            if t is None:
                continue
            hit = camera.position + t * direction
            normal = gradient_of(scene, hit)
            image[row, column] = 0.1 + max(0.0, np.dot(normal, light))
    return image


def loss(centre, radius):
    scene = smooth_union(sphere(centre, radius), plane([0.0, 1.0, 0.1], 1.0))
    camera = Camera(np.array([0.0, 0.5, -3.0]), np.array([0.0, 0.0, 0.0]))
    image = render(scene, camera, normalised(np.array([1.0, 1.0, -1.0])))
    return np.sum(image * np.arange(9.0).reshape(3, 3))


ARGUMENTS = (np.array([0.1, 0.2, 0.0]), 0.7)
#: The number of steps of a ray changes between points further apart.
STEP = 3e-5
