extension TakeNotes {
    /// A person's change to a take's markers after its end. The sidecar keeps the markers that were set during the
    /// recording.
    public struct MarkerChange: Codable, Hashable, Sendable {
        public var atFrame: TakeFrame
        /// The person's text, or null.
        @ExplicitNull public var note: String?
        /// Whether the person removed the marker.
        public var removed: Bool

        enum CodingKeys: String, CodingKey {
            case note, removed
            case atFrame = "at_frame"
        }
    }

    /// In bytes.
    public static let longestMarkerNote = 1000
    /// The number of markers that a person can set or remove after the end of a take.
    public static let mostMarkerChanges = 500

    /// The current markers of a take, by frame: the sidecar's markers with people's changes. A changed note leaves the
    /// region, the label and `by` as they were.
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

    /// Adds a marker, or changes the note of an existing one.
    public mutating func setMarker(_ marker: Sidecar.Marker) {
        change(MarkerChange(atFrame: marker.atFrame, note: marker.note, removed: false))
    }

    /// Removes all markers at a frame.
    /// - Parameter sidecar: the markers that were set during the recording. Only their removal must be stored.
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
