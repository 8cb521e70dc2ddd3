# SPDX-License-Identifier: GPL-2.0
"""A line chart with logarithmic axes, as SVG."""

import html
import math

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 96, 44, 52
COLOURS = {"hroce": "#c0392b", "rxe": "#2c6fbb", "tcp": "#3a8f4d", "bbr": "#b07d2b", "udp": "#8e5ea2",
           "memcpy": "#6b6b6b"}
NAMES = {"rxe": "rdma_rxe", "tcp": "TCP", "bbr": "TCP (BBR)", "udp": "UDP"}
LABEL_HEIGHT = 15


def short(value):
    """A number with at most three digits and a unit."""
    for factor, unit in ((1 << 20, "M"), (1 << 10, "k")):
        if value >= factor and value % factor == 0:
            return f"{value // factor:.0f}{unit}"
    return f"{value:.0f}" if value >= 1 else f"{value:g}"


def decade(value):
    return f"{value:,.0f}".replace(",", " ") if value >= 1 else f"{value:g}"


class Axis:
    """Maps values to positions, evenly by their logarithm."""

    def __init__(self, low, high, start, end):
        self.low = math.log(low)
        self.span = max(math.log(high) - self.low, 1e-9)
        self.start = start
        self.end = end

    def position(self, value):
        return self.start + (math.log(value) - self.low) / self.span * (self.end - self.start)


class Chart:
    """Lines through (x, median, min, max), one for each system."""

    def __init__(self, title, x_title, y_title, lines):
        self.title = title
        self.titles = x_title, y_title
        self.lines = lines
        points = [point for line in lines.values() for point in line]
        self.x_values = sorted({point[0] for point in points})
        low = 10 ** math.floor(math.log10(min(point[2] for point in points)))
        high = 10 ** math.ceil(math.log10(max(point[3] for point in points)) + 1e-9)
        self.decades = [10.0 ** power for power in range(round(math.log10(low)), round(math.log10(high)) + 1)]
        self.x_axis = Axis(self.x_values[0], self.x_values[-1], LEFT + 12, WIDTH - RIGHT)
        self.y_axis = Axis(low, high, HEIGHT - BOTTOM, TOP)
        self.out = []

    def text(self, x, y, text, anchor="middle", **style):
        extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{html.escape(text)}</text>')

    def stroke(self, points, colour, width=1.0):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>')

    def draw_axes(self):
        right = WIDTH - RIGHT + 12
        for value in self.decades:
            y = self.y_axis.position(value)
            self.stroke([(LEFT, y), (right, y)], "#dddddd")
            self.text(LEFT - 6, y + 4, decade(value), "end")
        for value in self.x_values:
            x = self.x_axis.position(value)
            self.stroke([(x, HEIGHT - BOTTOM), (x, HEIGHT - BOTTOM + 5)], "#888888")
            self.text(x, HEIGHT - BOTTOM + 19, short(value))
        self.text((LEFT + right) / 2, HEIGHT - 12, self.titles[0])
        self.text(16, (TOP + HEIGHT - BOTTOM) / 2, self.titles[1],
                  transform=f"rotate(-90 16 {(TOP + HEIGHT - BOTTOM) / 2:.0f})")
        self.text(LEFT, 22, self.title, "start", font_weight="bold", font_size="14")

    def draw_line(self, system, line):
        colour = COLOURS.get(system, "#333333")
        spots = []
        for x, median, low, high in line:
            across, y = self.x_axis.position(x), self.y_axis.position(median)
            spots.append((across, y))
            self.stroke([(across, self.y_axis.position(low)), (across, self.y_axis.position(high))], colour)
            self.out.append(f'<circle cx="{across:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
        self.stroke(spots, colour, 2)

    def draw_names(self):
        """Each system's name at the end of its line, moved apart where lines end close to each other."""
        ends = sorted((self.y_axis.position(line[-1][1]), system) for system, line in self.lines.items())
        lowest = 0
        for y, system in ends:
            lowest = max(y, lowest + LABEL_HEIGHT)
            self.text(WIDTH - RIGHT + 16, lowest + 4, NAMES.get(system, system), "start",
                      fill=COLOURS.get(system, "#333333"))

    def svg(self):
        self.draw_axes()
        for system, line in self.lines.items():
            self.draw_line(system, line)
        self.draw_names()
        return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
                          f'height="{HEIGHT}" font-family="sans-serif" font-size="12" fill="#222222">',
                          f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', *self.out, "</svg>", ""])
