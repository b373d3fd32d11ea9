import Panel
import Takes
import Transport

struct Edge {
    var button: Button
    var isDown: Bool
    var at: Instant

    init(_ button: Button, isDown: Bool, at: Instant) {
        self.button = button
        self.isDown = isDown
        self.at = at
    }
}

extension PanelInput {
    mutating func edge(_ edge: Edge) { self.edge(edge.button, isDown: edge.isDown, at: edge.at) }
}
