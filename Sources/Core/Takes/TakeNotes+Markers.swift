extension TakeNotes {
    /// What a person changed of a take's markers after it was finished. The sidecar keeps those that were set while it was recorded.
    public struct MarkerChange: Codable, Hashable, Sendable {
        /// Where the marker is.
        public var atFrame: TakeFrame
        /// What is written of it; null: nothing.
        @ExplicitNull public var note: String?
        /// Whether there is no marker here any more.
        public var removed: Bool

        enum CodingKeys: String, CodingKey {
            case note, removed
            case atFrame = "at_frame"
        }
    }

    /// The most bytes of a marker's note.
    public static let longestMarkerNote = 1000
    /// The most markers of a take that can be set or removed after it was finished.
    public static let mostMarkerChanges = 500

    /// The markers of a take as they are now, by frame: those of its sidecar, with what a person changed. Another note leaves a region, its
    /// label and who set it as they were.
    public func markers(of sidecar: [Sidecar.Marker]) -> [Sidecar.Marker] {
        guard !markers.isEmpty else { return sidecar }
        let changed = Set(markers.map(\.atFrame))
        let recorded = Dictionary(sidecar.map { ($0.atFrame, $0) }) { first, _ in first }
        let set = markers.filter { !$0.removed }.map { change in
            var marker = recorded[change.atFrame] ?? Sidecar.Marker(atFrame: change.atFrame, note: nil)
            marker.note = change.note
            return marker
        }
        return (sidecar.filter { !changed.contains($0.atFrame) } + set).sorted { $0.atFrame < $1.atFrame }
    }

    /// Sets a marker: a new one, or another note of one that is there.
    public mutating func setMarker(_ marker: Sidecar.Marker) {
        change(MarkerChange(atFrame: marker.atFrame, note: marker.note, removed: false))
    }

    /// Removes all markers at a frame.
    /// - Parameter sidecar: those that were set while the take was recorded: only of these a removal must be kept.
    public mutating func removeMarker(at frame: TakeFrame, of sidecar: [Sidecar.Marker]) {
        if sidecar.contains(where: { $0.atFrame == frame }) {
            change(MarkerChange(atFrame: frame, note: nil, removed: true))
        } else {
            markers.removeAll { $0.atFrame == frame }
        }
    }

    private mutating func change(_ change: MarkerChange) {
        markers.removeAll { $0.atFrame == change.atFrame }
        markers.append(change)
        markers.sort { $0.atFrame < $1.atFrame }
    }
}
