"""A bar of elements with different materials: assembly from element objects, and its compliance."""

from __future__ import annotations

import numpy as np


class Material:
    def __init__(self, stiffness, density=1.0):
        self.stiffness = stiffness
        self.density = density


class Element:
    def __init__(self, nodes, material, area):
        self.nodes = nodes
        self.material = material
        self.area = area

    def length(self, x):
        i, j = self.nodes
        return abs(x[j] - x[i])

    def matrix(self, x):
        k = self.material.stiffness * self.area / self.length(x)
        return k * np.array([[1.0, -1.0], [-1.0, 1.0]])

    def load(self, x, gravity):
        w = self.material.density * self.area * self.length(x) * gravity
        return np.array([0.5 * w, 0.5 * w])


class Mesh:
    def __init__(self, x):
        self.x = x
        self.elements = []

    def add(self, element):
        self.elements.append(element)

    def assemble(self, gravity=9.81):
        n = len(self.x)
        k, f = np.zeros((n, n)), np.zeros(n)
        for element in self.elements:
            ke, fe = element.matrix(self.x), element.load(self.x, gravity)
            for a, i in enumerate(element.nodes):
                f[i] += fe[a]
                for b, j in enumerate(element.nodes):
                    k[i, j] += ke[a, b]
        return k, f


def solve(mesh, fixed, tip_load):
    k, f = mesh.assemble()
    f[-1] += tip_load
    free = [i for i in range(len(mesh.x)) if i not in fixed]
    u = np.zeros(len(mesh.x))
    u[free] = np.linalg.solve(k[np.ix_(free, free)], f[free])
    return u, f


X = np.array([0.0, 0.5, 1.1, 1.6])


def loss(areas, stiffness):
    steel = Material(stiffness, density=7.8)
    foam = Material(0.05 * stiffness)
    mesh = Mesh(X)
    for i in range(3):
        mesh.add(Element((i, i + 1), steel if i != 1 else foam, areas[i]))
    u, f = solve(mesh, fixed={0}, tip_load=5.0)
    weight = sum(e.area * e.length(mesh.x) * e.material.density for e in mesh.elements)
    return f @ u + 0.1 * weight


ARGUMENTS = (np.array([1.0, 0.8, 1.3]), 200.0)
