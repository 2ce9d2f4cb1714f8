"""Forward kinematics of a chain of links, and a pose that is to be reached."""

from __future__ import annotations

import numpy as np


class Joint:
    def __init__(self, axis, limits=(-np.pi, np.pi)):
        self.axis = np.asarray(axis, dtype=float)
        self.limits = limits

    def transform(self, q):
        raise NotImplementedError


class Revolute(Joint):
    def transform(self, q):
        x, y, z = self.axis
        c, s = np.cos(q), np.sin(q)
        v = 1 - c
        t = np.eye(4)
        t[:3, :3] = np.array(
            [
                [c + x * x * v, x * y * v - z * s, x * z * v + y * s],
                [y * x * v + z * s, c + y * y * v, y * z * v - x * s],
                [z * x * v - y * s, z * y * v + x * s, c + z * z * v],
            ]
        )
        return t


class Prismatic(Joint):
    def transform(self, q):
        t = np.eye(4)
        t[:3, 3] = q * self.axis
        return t


class Link:
    def __init__(self, joint, offset):
        self.joint = joint
        self.offset = np.eye(4)
        self.offset[:3, 3] = offset

    def pose(self, q):
        return self.joint.transform(q) @ self.offset


class Chain:
    def __init__(self, links):
        self.links = links

    def __len__(self):
        return len(self.links)

    def forward(self, q):
        if len(q) != len(self):
            raise ValueError(f"{len(q)} angles for {len(self)} links")
        pose = np.eye(4)
        for link, qi in zip(self.links, q):
            pose = pose @ link.pose(qi)
        return pose

    def penalty(self, q):
        total = 0.0
        for link, qi in zip(self.links, q):
            low, high = link.joint.limits
            total += max(0.0, low - qi) ** 2 + max(0.0, qi - high) ** 2
        return total


ARM = Chain(
    [
        Link(Revolute([0, 0, 1]), [0.0, 0.0, 0.4]),
        Link(Revolute([0, 1, 0], limits=(-0.5, 0.5)), [0.6, 0.0, 0.0]),
        Link(Prismatic([1, 0, 0]), [0.1, 0.0, 0.0]),
        Link(Revolute([1, 0, 0]), [0.0, 0.2, 0.1]),
    ]
)
TARGET = np.array([0.5, 0.4, 0.6])


def loss(q):
    pose = ARM.forward(q)
    return np.sum((pose[:3, 3] - TARGET) ** 2) + 0.1 * ARM.penalty(q) - 0.05 * np.trace(pose[:3, :3])


ARGUMENTS = (np.array([0.4, -0.7, 0.2, 0.9]),)
