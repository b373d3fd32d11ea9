// Embedded Swift has no Codable. The types of Takes that the filters and the ring need only name it.
protocol Codable {}
